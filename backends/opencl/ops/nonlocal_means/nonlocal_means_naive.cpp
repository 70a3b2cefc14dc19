// nonlocal_means, naive: one work-item a voxel. See nonlocal_means_naive.cl.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "mathematics/nonlocal_means_numbers.h"
#include "opencl_buffer.h"
#include "opencl_device.h"
#include "opencl_embedded.h"
#include "opencl_kernel.h"
#include "opencl_launch_shape.h"
#include "ops/nonlocal_means/nonlocal_means_variants.h"

namespace tessera::opencl {

namespace {

/// Work-items that look for the largest voxel, each in strides.
constexpr std::uint64_t kMeansLookers = 1 << 14;
/// Where the whole numbers begin in the workspace, behind the largest magnitude.
constexpr std::size_t kMeansNumbersAt = 256;

/// Means of nonlocal_means_naive.cl: of each axis, x first.
struct MeansShape {
  cl_long size[3], before[3], behind[3], patch[3], patch_before[3];
  cl_long channels;
  cl_ulong reach;
};
static_assert(sizeof(MeansShape) == 136, "nonlocal_means_naive.cl says so too");

MeansShape means_shape(const NonlocalMeans& problem) noexcept {
  MeansShape shape{};
  const auto axes = mathematics::means_axes(problem);
  for (std::size_t i = 0; i < 3; ++i) {
    shape.size[i] = axes[i].size;
    shape.before[i] = axes[i].candidates_before;
    shape.behind[i] = axes[i].candidates_behind;
    shape.patch[i] = axes[i].patch;
    shape.patch_before[i] = axes[i].patch_before;
  }
  shape.channels = problem.channels;
  shape.reach = mathematics::means_reach(problem);
  return shape;
}

/// Of the volume with its borders.
std::uint64_t numbers_of(const NonlocalMeans& problem) noexcept {
  auto count = static_cast<std::uint64_t>(problem.channels);
  for (const mathematics::MeansAxis& axis : mathematics::means_axes(problem))
    count *= static_cast<std::uint64_t>(axis.with_borders());
  return count;
}

/// The launches of a run, and the table that they read.
class MeansKernel final : public backend::Kernel {
 public:
  MeansKernel(const NonlocalMeans& problem, const OpenclDevice& device)
      : problem_(problem),
        table_numbers_(mathematics::means_table(problem)),
        table_(device.context(), std::as_bytes(std::span(table_numbers_))),
        run_(launches(device), kMeansNumbersAt + numbers_of(problem) * sizeof(cl_int)) {}

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return problem_.sigma == 0 ? 0 : run_.workspace_bytes();
  }
  [[nodiscard]] std::size_t held_bytes() const override { return table_numbers_.size() * sizeof(cl_uint); }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    if (problem_.sigma != 0) return run_.launch(queue, operands, workspace);
    const std::size_t bytes =
        static_cast<std::size_t>(problem_.size.product() * problem_.channels) * size_bytes(problem_.type);
    const auto whole = [&](const backend::Slice& slice) {
      return backend::Slice{slice.buffer, slice.offset_bytes, bytes};
    };
    queue.copy(whole(operands[1]), whole(operands[0]));
  }

 private:
  [[nodiscard]] std::vector<OperatorLaunch> launches(const OpenclDevice& device) const {
    const MemoryArgument volume{.place = 0, .type = problem_.type};
    const MemoryArgument result{.place = 1, .type = problem_.type};
    const MemoryArgument largest{.place = MemoryArgument::kWorkspace, .type = DataType::int32};
    const MemoryArgument numbers{.place = MemoryArgument::kWorkspace,
                                 .type = DataType::int32,
                                 .first_element = kMeansNumbersAt / sizeof(cl_int)};
    const auto voxels = static_cast<std::uint64_t>(problem_.size.product());
    std::vector<OperatorLaunch> all;
    if (problem_.type == DataType::float32) {
      all.push_back(launch_of(device, "nonlocal_means_begin", 1, {largest}));
      const auto most = voxels * static_cast<std::uint64_t>(problem_.channels);
      all.push_back(launch_of(device, "nonlocal_means_largest", std::min(most, kMeansLookers), {volume, largest}));
    }
    all.push_back(launch_of(device, "nonlocal_means_numbers", numbers_of(problem_), {volume, numbers, largest}));
    all.push_back(launch_of(device, "nonlocal_means_naive", voxels, {volume, result, numbers, largest}));
    const auto behind_struct = static_cast<cl_uint>(2 * all.back().memory.size() + 1);
    all.back().kernel->set(behind_struct, table_.native());
    return all;
  }
  [[nodiscard]] OperatorLaunch launch_of(const OpenclDevice& device, const char* function, std::uint64_t items,
                                         std::vector<MemoryArgument> memory) const {
    const int type = problem_.type == DataType::uint8 ? 0 : problem_.type == DataType::uint16 ? 1 : 2;
    OperatorLaunch launch;
    launch.kernel =
        device.kernel({.name = function,
                       .text = std::string(embedded::nonlocal_means_naive),
                       .options = backend::sentence("-cl-std=CL1.2 -DTYPE=", type, " -DNARROW=", type == 0 ? 1 : 0)});
    launch.range = line_of(*launch.kernel, items);
    launch.memory = std::move(memory);
    launch.set_structs(means_shape(problem_));
    return launch;
  }

  NonlocalMeans problem_;
  std::vector<std::uint32_t> table_numbers_;
  OpenclBuffer table_;
  OpenclKernel run_;
};

}  // namespace

backend::Variant<NonlocalMeans> nonlocal_means_naive() {
  return {.name = "naive",
          .summary = "one work-item a voxel, every candidate's patch from global memory",
          .check =
              [](const NonlocalMeans& problem, const backend::Device&) {
                return check_groups("nonlocal_means", ceil_div(numbers_of(problem), kLineGroup));
              },
          .tunables = nullptr,
          .make = [](const NonlocalMeans& problem, backend::Device& device, const Tuning&)
              -> std::unique_ptr<backend::Kernel> { return std::make_unique<MeansKernel>(problem, native(device)); }};
}

}  // namespace tessera::opencl
