// A variant: one way of computing an operator on one backend, as that backend lists it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/kernel.h>

namespace tessera::backend {

class Device;
class Kernel;

/// An answer, foremost to "can it?": yes, or no with one sentence that names the value and the limit.
class Verdict {
 public:
  [[nodiscard]] static Verdict yes() { return Verdict({}); }
  [[nodiscard]] static Verdict no(std::string because) { return Verdict(std::move(because)); }
  [[nodiscard]] explicit operator bool() const noexcept { return because_.empty(); }
  [[nodiscard]] const std::string& because() const noexcept { return because_; }

 private:
  explicit Verdict(std::string because) : because_(std::move(because)) {}
  std::string because_;
};

/// One row of a backend's list. Functions see problems that the front half has checked, leading dimensions filled in.
template <class Problem>
struct Variant {
  std::string_view name;     ///< snake_case, the same word on every backend that computes this way
  std::string_view summary;  ///< how it computes, in one line
  /// The only answer to "can it run?": the library asks it before it makes a kernel, and explain() tells it to tests
  /// and benchmarks. Must hold: yes means that make() succeeds and the kernel is right for every tuning value listed;
  /// of tunables that are paired, for every pair.
  Verdict (*check)(const Problem&, const Device&);
  /// The tunables that the variant leaves open for this problem on this device. May be null: none.
  std::vector<Tunable> (*tunables)(const Problem&, const Device&);
  /// Compiles it. Called only after check() said yes, with a value from the list for every tunable.
  std::unique_ptr<Kernel> (*make)(const Problem&, Device&, const Tuning&);
  double error_factor = 1.0;  ///< its error bound as a multiple of the strict algorithm's
  bool deterministic = true;  ///< the same bits on every run on one device
  /// The error factor where it depends on the problem; it holds for every tuning value. Null: `error_factor` holds for
  /// all problems. Asked only where check() says yes.
  double (*error_factor_of)(const Problem&, const Device&) = nullptr;
  /// May this variant be the default? No, with one sentence, where a variant further down the list is faster. A no only
  /// concerns the default: forced by name, the variant runs. Null: yes. Asked only where check() says yes.
  Verdict (*pays)(const Problem&, const Device&) = nullptr;
  /// The error factor with a value for every tunable, where some tunings have a smaller one than error_factor_of says.
  /// Null: none has. Asked only where check() says yes.
  double (*error_factor_with)(const Problem&, const Device&, const Tuning&) = nullptr;
};

/// Best first, plain one last.
template <class Problem>
using VariantList = std::vector<Variant<Problem>>;

}  // namespace tessera::backend
