// What each backend must at least offer, as it says in its own backends/<b>/floor.txt.
#pragma once

#include <string>
#include <vector>

#include <tessera/types.h>

namespace tessera::testing_support {

/// One line of such a file: of an operator, in these types, on every device that computes in them, these variants.
struct Floor {
  std::string backend;
  std::string operator_name;
  std::vector<DataType> types;
  std::vector<std::string> variants;
};

/// Those of every backend in the list, whether it was built or not. Throws std::runtime_error for a line that is none.
[[nodiscard]] const std::vector<Floor>& floors();

}  // namespace tessera::testing_support
