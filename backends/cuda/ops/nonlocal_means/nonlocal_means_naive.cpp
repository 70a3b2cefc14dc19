// nonlocal_means, naive: one thread a voxel. See nonlocal_means_naive.cu.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_embedded.h"
#include "cuda_kernel.h"
#include "cuda_table.h"
#include "mathematics/division.h"
#include "mathematics/nonlocal_means_numbers.h"
#include "ops/nonlocal_means/nonlocal_means_arguments.h"
#include "ops/nonlocal_means/nonlocal_means_variants.h"

namespace tessera::cuda {

namespace {

static_assert(kMeansNumberBits == mathematics::kMeansVoxelBits && kMeansNoNumber == mathematics::kMeansNoVoxel &&
              kMeansTableWeights == mathematics::kMeansWeights &&
              kMeansLeastScale == mathematics::kLeastMeansExponent &&
              kMeansMostScale == mathematics::kMostMeansExponent);

/// Threads that look for the largest voxel, each in strides.
constexpr std::int64_t kMeansLookers = 1 << 16;
/// Where the whole numbers begin in the workspace, behind the largest magnitude.
constexpr std::size_t kMeansNumbersAt = 256;

LaunchGrid means_line(std::int64_t threads) noexcept {
  LaunchGrid grid;
  grid.groups[0] = static_cast<unsigned>(mathematics::ceil_div<std::int64_t>(threads, kMeansThreads));
  grid.group_size[0] = kMeansThreads;
  return grid;
}

/// Of the volume with its borders.
std::int64_t numbers_of(const NonlocalMeans& problem) noexcept {
  std::int64_t count = problem.channels;
  for (const mathematics::MeansAxis& axis : mathematics::means_axes(problem)) count *= axis.with_borders();
  return count;
}

MeansArguments means_arguments(const NonlocalMeans& problem) noexcept {
  MeansArguments arguments{};
  const auto axes = mathematics::means_axes(problem);
  for (std::size_t i = 0; i < 3; ++i) {
    arguments.size[i] = axes[i].size;
    arguments.before[i] = axes[i].candidates_before;
    arguments.behind[i] = axes[i].candidates_behind;
    arguments.patch[i] = axes[i].patch;
    arguments.patch_before[i] = axes[i].patch_before;
  }
  arguments.channels = problem.channels;
  arguments.reach = mathematics::means_reach(problem);
  return arguments;
}

class MeansKernel final : public backend::Kernel {
 public:
  MeansKernel(const NonlocalMeans& problem, CudaDevice& device)
      : problem_(problem),
        table_(device, mathematics::means_table(problem)),
        arguments_(means_arguments(problem)),
        begin_(function(device, "begin")),
        largest_(function(device, "largest")),
        numbers_(function(device, backend::sentence("numbers_", to_string(problem.type)))),
        naive_(function(device, backend::sentence("naive_", to_string(problem.type)))) {
    arguments_.table = table_.begin<std::uint32_t>();
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    if (problem_.sigma == 0) return 0;
    return kMeansNumbersAt + static_cast<std::size_t>(numbers_of(problem_)) * sizeof(std::int32_t);
  }
  [[nodiscard]] std::size_t held_bytes() const override { return table_.size_bytes(); }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    const std::int64_t voxels = problem_.size.product();
    if (problem_.sigma == 0) {
      const auto whole = [&](const backend::Slice& slice) {
        return backend::Slice{slice.buffer, slice.offset_bytes,
                              static_cast<std::size_t>(voxels * problem_.channels) * size_bytes(problem_.type)};
      };
      return queue.copy(whole(operands[1]), whole(operands[0]));
    }
    MeansArguments arguments = arguments_;
    arguments.volume = pointer_to<const void>(operands[0]);
    arguments.result = pointer_to<void>(operands[1]);
    arguments.largest = pointer_at<std::uint32_t>(workspace, 0);
    arguments.numbers = pointer_at<std::int32_t>(workspace, kMeansNumbersAt);
    if (problem_.type == DataType::float32) {
      begin_.enqueue(queue, arguments, means_line(1));
      largest_.enqueue(queue, arguments, means_line(std::min(voxels * problem_.channels, kMeansLookers)));
    }
    numbers_.enqueue(queue, arguments, means_line(numbers_of(problem_)));
    naive_.enqueue(queue, arguments, means_line(voxels));
  }

 private:
  static CudaFunction function(const CudaDevice& device, const std::string& name) {
    return {device.context(), embedded::nonlocal_means_naive, "tessera_nonlocal_means_" + name, LaunchGrid()};
  }

  NonlocalMeans problem_;
  CudaTable table_;
  MeansArguments arguments_;
  CudaFunction begin_;
  CudaFunction largest_;
  CudaFunction numbers_;
  CudaFunction naive_;
};

backend::Verdict check(const NonlocalMeans& problem, const backend::Device& device) {
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  const std::int64_t groups = mathematics::ceil_div<std::int64_t>(numbers_of(problem), kMeansThreads);
  if (static_cast<std::uint64_t>(groups) <= limit) return backend::Verdict::yes();
  return backend::Verdict::no(
      backend::sentence("nonlocal_means takes ", groups, " groups, but a launch has at most ", limit));
}

}  // namespace

backend::Variant<NonlocalMeans> nonlocal_means_naive() {
  return {.name = "naive",
          .summary = "one thread a voxel, every candidate's patch from device memory",
          .check = check,
          .tunables = nullptr,
          .make = [](const NonlocalMeans& problem, backend::Device& device, const Tuning&)
              -> std::unique_ptr<backend::Kernel> { return std::make_unique<MeansKernel>(problem, native(device)); }};
}

}  // namespace tessera::cuda
