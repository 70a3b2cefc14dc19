// One pass over the whole public API on one device, in small problems whose results are known: what a sweep runs again
// and again while it makes one driver call or one allocation after the other fail. Knows nothing of backends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::fault {

struct ScenarioBench;

/// Makes what it needs, lets go of it, and says whether all results were right.
struct ScenarioStep {
  std::string name;
  std::function<bool(ScenarioBench&)> run;
};

struct ScenarioOptions {
  /// Also copies between this device and another one, opened by this name; "" leaves that out.
  std::string other_device = {};
  /// False where the driver underneath is a fake whose kernels compute nothing: then only what is copied and filled is
  /// compared.
  bool kernels_compute = true;
  /// False leaves out what asks every variant, a vendor's among them, whose library may look for a real driver.
  bool asks_every_variant = true;
  /// Whose absence, told by this name, is no failure where an own kernel is compiled; "" for nobody's.
  std::string dispensable_compiler = {};
  /// The variants that the operators' steps force; "" is the default choice.
  std::vector<std::string> gemm_variants = {"", "naive"};
  std::vector<std::string> conv2d_variants = {""};
  std::vector<std::string> cnn_layer_variants = {"", "subtile"};
  /// What one backend alone has, behind the steps that all share.
  std::vector<ScenarioStep> own_steps = {};
  /// Called first when a step has failed, before anything is noted: a sweep over allocations ends its fault here.
  std::function<void()> on_failure = {};
};

/// What the steps share.
struct ScenarioBench {
  const ScenarioOptions& options;
  const std::vector<float>& numbers;  ///< small whole numbers: their sums and products are exact
  std::optional<Device> device = {};
  std::optional<Queue> queue = {};
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

/// For steps: memory that queues may borrow, kept until the process ends.
[[nodiscard]] std::span<float> borrowed_memory(std::size_t count);

}  // namespace tessera::fault
