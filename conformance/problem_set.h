// The one description of what an operator must compute, for tests, `tessera verify` and `tessera bench`: cases with
// inputs, oracle, error bound and amount of work. Knows no test framework. An operator has a folder <op>/ with
// <op>_problems, whose <op>_problem_set() is found by its name, <op>_oracle and what else it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::conformance {

/// One named number or word of a problem, as result files write it: {"m", 17}.
struct Field {
  std::string name;
  std::variant<std::int64_t, double, bool, std::string> value;
};

/// The least that any algorithm of the natural kind does: what speeds are computed from.
struct Work {
  double flops = 0;
  double bytes = 0;  ///< every input read once, every output written once
};

/// A result against the oracle.
struct Outcome {
  bool passed = false;
  /// The element that comes closest to its bound, or is furthest past it: its error and its bound, both absolute.
  double worst_error = 0;
  double bound = 0;
  /// Root mean squares of the errors and of the right values, of all elements that were looked at one by one and are
  /// finite. 0 where results are of several kinds, as those of kernel_regression; infinite where squares overflow.
  double rms_error = 0;
  double rms_value = 0;
  /// One sentence if it failed: which element, what was expected and found; or which guard zone was written.
  std::string failure;
};

/// Where operands lie in the host's memory.
enum class HostMemory : std::uint8_t {
  ordinary,  ///< of the program's own, as a vector holds it
  pinned,    ///< of Device::allocate_pinned()
};
[[nodiscard]] std::string_view to_string(HostMemory memory) noexcept;

class HostCopy;
using HostCopies = std::vector<std::unique_ptr<HostCopy>>;

/// A case on one device with one kernel: operands uploaded, outputs poisoned and fenced by guard zones.
class Run {
 public:
  virtual ~Run();
  [[nodiscard]] virtual const KernelInfo& info() const = 0;
  /// Poisons the outputs again, and refills those that are inputs too. Asynchronous.
  virtual void reset(Queue& queue) = 0;
  /// Queues what else the next enqueue() would queue before its run: weights are prepared anew for another kernel.
  virtual void make_ready(Queue& /*queue*/) {}
  /// Queues one run.
  virtual void enqueue(Queue& queue) = 0;
  /// After reset() and one enqueue(): downloads everything and compares with the oracle. Blocks.
  [[nodiscard]] virtual Outcome check(Queue& queue) = 0;
  /// The outputs' bits as they are now, guard zones included. Blocks.
  [[nodiscard]] virtual std::vector<std::byte> output_bits(Queue& queue) = 0;
  /// Keeps `seconds` for explain() to report.
  virtual void remember_time(const Device& device, double seconds) = 0;
  /// Goes on with another kernel for the same problem; the operands stay where they are, and reset() makes them as new.
  /// Errors as Device::kernel(), and then nothing has changed.
  virtual void change_kernel(const Device& device, const KernelOptions& options) = 0;
  /// The same with the kernel that another run of the same case on the same device has.
  virtual void share_kernel(const Run& other) = 0;
  /// The same kernel on other memory with the same content, which reset() fills. Errors as Device::allocate().
  [[nodiscard]] virtual std::unique_ptr<Run> twin(const Device& device) const = 0;
  /// Every operand in the host's memory, for a round trip. They look at this run's operands, and go before it. None
  /// where the run does not offer that. Errors as Device::allocate_pinned().
  [[nodiscard]] virtual HostCopies host_copies(const Device& device, HostMemory memory) const;
};

/// A case whose operands lie in the host's memory: what the copies to the device and back cost.
class RoundTrip {
 public:
  virtual ~RoundTrip() = default;
  [[nodiscard]] virtual const KernelInfo& info() const = 0;
  /// Poisons what download() is to fill and, on the device, what upload() is to: an old result cannot pass.
  /// Asynchronous.
  virtual void reset(Queue& queue) = 0;
  /// Queues the copies of every input to the device. Weights that a run has prepared are copied too, but not prepared
  /// anew.
  virtual void upload(Queue& queue) = 0;
  /// Queues one run.
  virtual void enqueue(Queue& queue) = 0;
  /// Queues the copies of every output to the host.
  virtual void download(Queue& queue) = 0;
  [[nodiscard]] virtual std::size_t upload_bytes() const = 0;
  [[nodiscard]] virtual std::size_t download_bytes() const = 0;
  /// Compares what was downloaded since reset() with the oracle. Blocks.
  [[nodiscard]] virtual Outcome check(Queue& queue) = 0;
};

/// What a case is for.
enum class Purpose : std::uint8_t {
  conformance,  ///< small: correctness at every edge
  slow,         ///< correctness too, but too large for the everyday loop
  benchmark,    ///< large enough to time
  study,        ///< what `tessera bench --study` measures
  quick_study,  ///< the same study with sizes so small that a test can run it
};

/// One problem with its inputs, the same on every device.
class Case {
 public:
  virtual ~Case() = default;
  /// Unique in its problem set, letters, digits and '_' only: "float32_m17_n1_k33_ta".
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Purpose purpose() const = 0;
  [[nodiscard]] virtual DataType type() const = 0;
  [[nodiscard]] virtual std::vector<Field> problem() const = 0;
  [[nodiscard]] virtual Work work() const = 0;
  /// tessera::explain() for this problem.
  [[nodiscard]] virtual std::vector<VariantReport> explain(const Device& device) const = 0;
  /// tessera::shape_class() of this problem. Errors likewise. "": the case cannot be tuned.
  [[nodiscard]] virtual std::string shape_class() const { return ""; }
  /// tessera::remember_tuning() for this problem.
  virtual void remember_tuning(const Device& device, const TuningResult& result) const {
    static_cast<void>(device), static_cast<void>(result);
  }
  /// Problems of the same kind whose sizes no tile divides, to check a tuning at: one a little smaller, which has whole
  /// tiles and parts of them, and a small one. Fewer where sizes are too small to differ. The library may refuse one.
  [[nodiscard]] virtual std::vector<std::unique_ptr<Case>> odd_neighbours() const { return {}; }
  /// Makes the kernel and the operands. Errors as Device::kernel().
  [[nodiscard]] virtual std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const = 0;

  /// Does a correct run change at least one bit of the outputs that reset() wrote? Not if they are empty or C = 1 * C.
  [[nodiscard]] virtual bool changes_output() const { return true; }
  /// Of a study's case: the part of the study that it belongs to.
  [[nodiscard]] virtual std::string_view part() const { return ""; }
  /// The operands in the host's memory, for measuring the way to the device and back; nullptr where the case does not
  /// offer that. Errors as Device::kernel() and Device::allocate().
  [[nodiscard]] virtual std::unique_ptr<RoundTrip> round_trip(const Device& device, const KernelOptions& options,
                                                              HostMemory memory) const;
  /// Is this one of the few cases on which every tuning value of every variant is tried?
  [[nodiscard]] virtual bool tries_every_tuning() const { return false; }
  /// "", or one sentence that says why the case asks too much of this device (memory, mostly). Such a case is reported
  /// as skipped and never prepared.
  [[nodiscard]] virtual std::string skip_reason(const Device& device) const {
    static_cast<void>(device);
    return "";
  }
};

/// A problem as a person writes it: {{"m", "1000"}, {"type", "float64"}}.
using ProblemWords = std::vector<std::pair<std::string, std::string>>;

struct ProblemSet {
  std::string operator_name;  ///< "gemm"
  std::vector<std::unique_ptr<Case>> cases;
  /// The case of a problem in words, to be measured; fields that are not named are as the operator's struct has them.
  /// Throws an Error, invalid_argument, for words that are not right. What the library refuses, explain() refuses.
  std::unique_ptr<Case> (*make_case)(const ProblemWords& words) = nullptr;
};

/// The problem set of every operator. Built once.
[[nodiscard]] const std::vector<ProblemSet>& problem_sets();

}  // namespace tessera::conformance
