// Operator kernels: the options to make one with, what it says about itself, and the report of what could be made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/export.h>
#include <tessera/types.h>

namespace tessera {

/// The named integers that a variant leaves open: {{"tile", 16}}.
using Tuning = std::map<std::string, std::int64_t>;

/// One integer that a variant leaves open, with every value that it takes for this problem on this device.
struct Tunable {
  std::string name;
  std::string meaning;
  std::vector<std::int64_t> values;
  std::int64_t preferred = 0;  ///< what is used when nothing is said
  /// Where not every value exists beside every value of another tunable: that one's name, and the pairs that exist, its
  /// value first. The preferred values are a pair.
  std::string paired_with = {};
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs = {};
};

/// The tunable whose value does not exist beside that of the one that it is paired with; null: all do. For tunables
/// that the tuning does not name their preferred value counts, as when a kernel is made.
[[nodiscard]] TESSERA_API const Tunable* find_unpaired(const std::vector<Tunable>& tunables, const Tuning& tuning);

/// How a kernel is to be made. The default lets the library choose.
struct KernelOptions {
  std::string variant = {};   ///< force this one; "" chooses the first that can
  Tuning tuning = {};         ///< values for its tunables; what is not named takes the preferred value
  bool deterministic = true;  ///< only variants with the same bits on every run, as all are today; false: any variant
  std::string label = {};     ///< names the kernel in errors and traces
};

/// What a kernel is, after it was made.
struct KernelInfo {
  std::string operator_name;  ///< "gemm"; the kernel's own name for the program's own kernels
  std::string variant;        ///< "tiled"; "own" for the program's own kernels
  std::string device;         ///< "cuda:0"
  std::string label;
  Tuning tuning;              ///< every tunable with the value in use
  double error_factor = 1.0;  ///< its error bound as a multiple of the strict algorithm's
  /// Memory that a queue keeps for its runs. A queue has one workspace for all its kernels: the largest that one needs.
  std::size_t workspace_bytes = 0;
  /// Of operators with weights: memory that prepared weights take; 0 if the kernel computes with raw weights. A run
  /// that is given raw weights prepares them anew, in a workspace that is larger by as much.
  std::size_t prepared_bytes = 0;
  /// Why the variant and its tuning are others than the defaults that ship: the file that says so. "" where they are
  /// not, and where the options named one.
  std::string chosen_because = {};
};

/// What a search on this machine found for problems of this class: see tessera/tuning.h.
struct TunedValues {
  Tuning tuning;          ///< of the variant in whose row it stands
  double measured_s = 0;  ///< median device time of one run of the problem that was measured
  double default_s = 0;   ///< of the default that ships, measured beside it; 0 if that one was wrong
  std::string problem;    ///< which was measured: "m=1000,n=777,k=512,..."
  std::string when;       ///< "2026-03-01T12:00:00Z"
  std::string source;     ///< the file
  std::string because;    ///< why kernel() does not use it for this problem, one sentence; "" if it does
};

/// One row of explain(): can this variant run this problem on this device?
struct VariantReport {
  std::string variant;
  std::string summary;  ///< how it computes, in one line
  bool can_run = false;
  std::string because;              ///< if it cannot: one sentence with the value and the limit
  bool is_default = false;          ///< the one that is chosen when none is forced
  bool is_shipped_default = false;  ///< the one that would be without tuned values and the site's file
  std::string passed_over;          ///< if it can run, but a later row is the default: one sentence why that is faster
  std::vector<Tunable> tunables;    ///< empty if it cannot run
  double error_factor = 1.0;
  std::optional<double> measured_s;   ///< median device time of one run, if this machine has measured the problem
  std::optional<TunedValues> tuned;   ///< if the search for such problems ended with this variant
  std::vector<std::string> rejected;  ///< tunings that it found wrong or failing: one sentence each
  std::string site;                   ///< what the site's file says of this variant: one sentence, or ""
};

namespace detail {
class KernelCore;
}

/// Any kernel, ready to run again and again. Cheap to copy; copies are the same kernel.
class TESSERA_API Kernel {
 public:
  [[nodiscard]] const KernelInfo& info() const;
  [[nodiscard]] const std::shared_ptr<detail::KernelCore>& core() const noexcept { return core_; }

 protected:
  explicit Kernel(std::shared_ptr<detail::KernelCore> core) noexcept : core_(std::move(core)) {}

 private:
  std::shared_ptr<detail::KernelCore> core_;
};

/// A variant bound to a problem on a device. Run it with Queue::run.
template <class Problem>
class OperatorKernel : public Kernel {
 public:
  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }

  /// For the library.
  OperatorKernel(std::shared_ptr<detail::KernelCore> core, Problem problem)
      : Kernel(std::move(core)), problem_(std::move(problem)) {}

 private:
  Problem problem_;
};

}  // namespace tessera
