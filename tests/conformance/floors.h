// What each backend must at least offer, as it says in its own backends/<b>/floor.txt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/device.h>
#include <tessera/types.h>

namespace tessera::testing_support {

/// One line of such a file: of an operator, in these types, on every device that computes in them, these variants;
/// where the types end in "@cpu", on devices of that kind alone, in "@sm_90", on those with that instruction set, in
/// "@sm_80+", on those with that one or a newer one, and in capitals as "@AMX", on those whose instruction set names
/// it.
struct Floor {
  std::string backend = {};
  std::string operator_name = {};
  std::vector<DataType> types = {};
  std::optional<DeviceKind> only_on = {};
  std::optional<int> least_sm = {};  ///< 80 of sm_80
  std::optional<int> most_sm = {};
  std::string extension = {};  ///< AMX of "AVX-512 with VNNI and AMX"
  std::vector<std::string> variants = {};

  /// Does it speak of this device?
  [[nodiscard]] bool concerns(const DeviceInfo& device) const;
};

/// Those of every backend in the list, whether it was built or not. Throws std::runtime_error for a line that is none.
[[nodiscard]] const std::vector<Floor>& floors();

}  // namespace tessera::testing_support
