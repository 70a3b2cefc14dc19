// One pass over the whole public API on one device, in small problems whose results are known: what a sweep runs again
// and again while it makes one driver call or one allocation after the other fail. Knows nothing of backends.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::fault {

struct ScenarioOptions {
  /// Also copies between this device and another one, opened by this name; "" leaves that out.
  std::string other_device = {};
  /// False where the driver underneath is a fake whose kernels compute nothing: then only what is copied and filled is
  /// compared.
  bool kernels_compute = true;
  /// Called first when a step has failed, before anything is noted: a sweep over allocations ends its fault here.
  std::function<void()> on_failure = {};
};

/// What became of a pass. Each line begins with the step's name.
struct ScenarioReport {
  std::size_t right = 0;               ///< steps whose results were right
  std::vector<std::string> errors;     ///< steps that threw tessera::Error, which they may
  std::vector<std::string> wrong;      ///< wrong results without an error
  std::vector<std::string> exhausted;  ///< std::bad_alloc: the library's, or of what the program itself allocates
  std::vector<std::string> foreign;    ///< exceptions of another type

  /// Every step was right or threw tessera::Error.
  [[nodiscard]] bool is_honest() const noexcept { return wrong.empty() && exhausted.empty() && foreign.empty(); }
  /// Every step was right.
  [[nodiscard]] bool is_right() const noexcept { return is_honest() && errors.empty(); }
  /// All lines, for a failing test's message.
  [[nodiscard]] std::string text() const;
};

/// Runs the pass. When it returns, every handle that it made is gone. Host memory that queues borrow stays until the
/// process ends, because a queue that cannot be drained may use it as long.
[[nodiscard]] ScenarioReport run_scenario(const std::string& device, const ScenarioOptions& options = {});

}  // namespace tessera::fault
