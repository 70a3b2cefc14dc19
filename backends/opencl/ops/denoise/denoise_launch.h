// What the host code of denoise's kernels shares: a step as kernels take it, the launches around its stacks, and the
// kernel that runs both steps. How the stacks of a round are filtered is the variant's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/ops/denoise.h>

#include "backend/variant.h"
#include "mathematics/denoise_rounds.h"
#include "opencl_buffer.h"
#include "opencl_device.h"
#include "opencl_kernel.h"
#include "opencl_launch_shape.h"

namespace tessera::opencl {

/// Step of denoise_volume.cl: of each axis, x first.
struct DenoiseShape {
  cl_long size[3], patch[3], held[3];
  cl_long references;
  cl_long first_slice, end_slice;
  cl_long end_of_sums;
  cl_long places;
  cl_long channels;
  cl_long channel;
  cl_int axis;
  cl_int has_basic;
  cl_int fraction_bits;
  cl_int place_bits;
  cl_float units;
  cl_float most_units;
};
static_assert(sizeof(DenoiseShape) == 152, "denoise_volume.cl says so too");

/// The places of a stack that are filtered: the largest power of two of them.
[[nodiscard]] std::int64_t denoise_places(const DenoiseStep& step) noexcept;
/// The matching of so many patches.
[[nodiscard]] PatchMatch denoise_matching(const Denoise& problem, const DenoiseStep& step) noexcept;

/// Memory that a launch works on, from an element of it on: two parameters.
struct DenoiseMemory {
  cl_mem memory = nullptr;
  cl_ulong first = 0;
};
/// Elements of so many bytes, from this byte of a slice on.
[[nodiscard]] DenoiseMemory memory_at(const backend::Slice& slice, std::size_t offset_bytes, std::size_t element_bytes);
/// Local memory: one parameter.
struct DenoiseLocal {
  std::size_t size_bytes = 0;
};

/// Where a run stands: the queue, and whether a launch of it is queued already.
struct DenoiseRun {
  OpenclQueue& queue;
  const backend::Slice& workspace;
  Stage stage = Stage::launch;
};

/// One function of a program, launched with arguments that are set each time.
class DenoiseFunction {
 public:
  DenoiseFunction(const OpenclDevice& device, const char* function, std::string_view text, const std::string& options);
  explicit DenoiseFunction(std::unique_ptr<CompiledKernel> kernel) : kernel_(std::move(kernel)) {}

  /// At least so many work-items in a line.
  template <class... Arguments>
  void enqueue(DenoiseRun& run, std::int64_t items, const Arguments&... arguments) const {
    enqueue_range(run, line_of(*kernel_, static_cast<std::uint64_t>(items)), arguments...);
  }
  template <class... Arguments>
  void enqueue_range(DenoiseRun& run, const NdRange& range, const Arguments&... arguments) const {
    const std::lock_guard lock(kernel_->mutex());
    cl_uint index = 0;
    (set(index, arguments), ...);
    run.queue.launch(kernel_->native(), range, run.stage);
    run.stage = Stage::rest;
  }

 private:
  template <class Argument>
  void set(cl_uint& index, const Argument& argument) const {
    if constexpr (std::is_same_v<Argument, DenoiseMemory>) {
      kernel_->set(index++, argument.memory);
      kernel_->set(index++, argument.first);
    } else if constexpr (std::is_same_v<Argument, DenoiseLocal>) {
      kernel_->set(index++, argument.size_bytes, nullptr);
    } else {
      kernel_->set(index++, argument);
    }
  }

  std::unique_ptr<CompiledKernel> kernel_;
};

/// What a step's launches work on.
struct DenoiseOperands {
  DenoiseMemory volume;
  DenoiseMemory basic;  ///< of the hard threshold the volume, which is not read as that
  DenoiseMemory matched;
  DenoiseMemory largest;
  DenoiseMemory sums;
  cl_mem table = nullptr;
};

/// Finds and filters the stacks of a round: what a variant brings.
class DenoiseStacks {
 public:
  DenoiseStacks() = default;
  DenoiseStacks(const DenoiseStacks&) = delete;
  DenoiseStacks& operator=(const DenoiseStacks&) = delete;
  virtual ~DenoiseStacks() = default;
  /// Before a step's first round.
  virtual void prepare(DenoiseRun& run, const DenoiseOperands& operands) const = 0;
  /// `shape` is the round's, but for the channel.
  virtual void enqueue(DenoiseRun& run, const DenoiseOperands& operands, const mathematics::DenoiseRound& round,
                       DenoiseShape shape) const = 0;
};

/// What a step's stacks are made with.
struct DenoiseStepPlan {
  const Denoise& problem;
  const DenoiseStep& step;
  bool is_wiener;
  const OpenclDevice& device;
  const Tuning& tuning;
};
/// A variant's stacks: what one reference takes of the workspace, and what all together take beside, and their maker,
/// for rounds of up to so many references and memory in the workspace from this byte on, a multiple of kDenoiseLine.
struct DenoiseStacksMaker {
  std::function<std::size_t(const DenoiseStepPlan&)> reference_bytes;
  std::function<std::size_t(const DenoiseStepPlan&)> bytes_beside;
  std::function<std::unique_ptr<DenoiseStacks>(const DenoiseStepPlan&, std::int64_t references,
                                               std::size_t offset_bytes)>
      make;
};

/// Parts of the workspace begin at multiples of it.
inline constexpr std::size_t kDenoiseLine = 256;
[[nodiscard]] constexpr std::size_t to_denoise_lines(std::size_t bytes) noexcept {
  return mathematics::round_up<std::size_t>(bytes, kDenoiseLine);
}

[[nodiscard]] std::unique_ptr<backend::Kernel> make_denoise(const Denoise& problem, backend::Device& device,
                                                            const Tuning& tuning, const DenoiseStacksMaker& maker);

/// Yes unless a work-item for each voxel is more than one launch takes.
[[nodiscard]] backend::Verdict check_denoise(const Denoise& problem);
/// "-DTYPE=0" and so on.
[[nodiscard]] std::string denoise_options(const Denoise& problem);

}  // namespace tessera::opencl
