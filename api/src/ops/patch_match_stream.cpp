// patch_match in slabs: as many planes of references as fit, with the slices that their windows and patches reach.
//
//   slices        0 1 2 3 4 5 6 7 8 9 ...       Slabs overlap by window + patch - 1 slices, which are uploaded with
//   slab 0        [ r . r . . . ]               both. A reference sees in its slab what it would see in the volume:
//   slab 1          [ . . r . r . . . ]         a slab begins or ends inside of a window only where the volume does.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include <tessera/queue.h>

#include "../slab_pipeline.h"
#include "../stream_memory.h"
#include "backend/sentence.h"
#include "patch_reach.h"
#include "stream_choice.h"
#include "streams.h"

namespace tessera::detail {
namespace {

class PatchStream {
 public:
  PatchStream(const Device& device, const PatchMatch& whole, const PatchMatch::HostOperands& host,
              const StreamOptions& options);

  [[nodiscard]] std::int64_t slabs() const noexcept { return (planes_ + planes_of_slab_ - 1) / planes_of_slab_; }
  [[nodiscard]] KernelInfo info() const { return device_.kernel(problem_of(0), options_).info(); }
  [[nodiscard]] std::uint64_t memory_bytes() const { return need_of(planes_of_slab_).total_bytes(); }
  void allocate();
  [[nodiscard]] SlabWork work_of(std::int64_t slab);

 private:
  struct Buffers {
    UntypedView volume, counts, distances, indices;
  };

  [[nodiscard]] PatchMatch slab_from(std::int64_t first_plane, std::int64_t planes) const noexcept;
  [[nodiscard]] PatchMatch problem_of(std::int64_t slab) const noexcept {
    const std::int64_t first = slab * planes_of_slab_;
    return slab_from(first, std::min(planes_of_slab_, planes_ - first));
  }
  [[nodiscard]] std::int64_t most_slices(std::int64_t planes) const noexcept;
  [[nodiscard]] StreamNeed need_of(std::int64_t planes) const;
  void upload(Queue& queue, std::int64_t slab) const;
  void run(Queue& queue, std::int64_t slab) const;
  void download(Queue& queue, std::int64_t slab) const;

  const Device& device_;
  const PatchMatch whole_;
  const PatchMatch::HostOperands& host_;
  KernelOptions options_;
  StreamLimit limit_;
  std::int64_t planes_;          // of references, along the axis of slabs
  std::int64_t slice_voxels_;    // of a slice
  std::int64_t plane_stacks_;    // of a plane
  std::int64_t planes_of_slab_;  // but for the last
  std::array<Buffers, 2> buffers_;
};

PatchStream::PatchStream(const Device& device, const PatchMatch& whole, const PatchMatch::HostOperands& host,
                         const StreamOptions& options)
    : device_(device),
      whole_(whole),
      host_(host),
      options_(options.kernel),
      limit_(*device.core(), options),
      planes_(whole.references().*whole.slab_axis()),
      slice_voxels_(whole.size.product() / whole.size.*whole.slab_axis()),
      plane_stacks_(whole.references().product() / planes_),
      planes_of_slab_(planes_) {
  choose_for_slabs(device_, whole_, options.kernel, [&](const KernelOptions& chosen) {
    options_ = chosen;
    planes_of_slab_ =
        largest_that_fits(1, planes_, 1, [&](std::int64_t planes) { return limit_.holds(need_of(planes)); });
    if (planes_of_slab_ == 0) return;
    // The first and the last reach less far than those between.
    for (const std::int64_t slab : {std::int64_t{0}, slabs() - 1})
      static_cast<void>(device_.kernel(problem_of(slab), options_));
  });
  if (planes_of_slab_ == 0) {
    throw limit_.refusal(PatchMatch::kName,
                         backend::sentence("one plane of ", plane_stacks_, " references and the ", most_slices(1),
                                           " slices around it at a time"),
                         need_of(1));
  }
}

PatchMatch PatchStream::slab_from(std::int64_t first_plane, std::int64_t planes) const noexcept {
  PatchMatch problem = whole_;
  if (planes == planes_) return problem;
  const PatchReach reach = patch_reach(whole_, first_plane, planes);
  problem.slab = {.first_slice = reach.first,
                  .slices = reach.end - reach.first,
                  .first_reference = first_plane,
                  .references = planes};
  return problem;
}

// Those in the middle of the volume reach furthest, and all of them alike.
std::int64_t PatchStream::most_slices(std::int64_t planes) const noexcept {
  std::int64_t most = 0;
  for (std::int64_t first = 0; first < planes_; first += planes) {
    const PatchReach reach = patch_reach(whole_, first, std::min(planes, planes_ - first));
    most = std::max(most, reach.end - reach.first);
  }
  return most;
}

StreamNeed PatchStream::need_of(std::int64_t planes) const {
  const std::int64_t sets = planes < planes_ ? 2 : 1;
  const std::int64_t stacks = planes * plane_stacks_;
  const auto bytes = [](std::int64_t elements, DataType type) {
    return static_cast<std::uint64_t>(elements) * size_bytes(type);
  };
  StreamNeed need;
  need.add("volume", sets, bytes(most_slices(planes) * slice_voxels_, whole_.type));
  need.add("counts", sets, bytes(stacks, DataType::int32));
  need.add("distances", sets, bytes(stacks * whole_.max_patches, whole_.distance_type()));
  need.add("indices", sets, bytes(stacks * whole_.max_patches, DataType::int64));
  // A slab that reaches as far as any.
  const std::int64_t middle = (planes_ - planes) / 2;
  need.add_workspace(device_.kernel(slab_from(middle, planes), options_).info());
  return need;
}

void PatchStream::allocate() {
  const std::int64_t stacks = planes_of_slab_ * plane_stacks_;
  const std::int64_t voxels = most_slices(planes_of_slab_) * slice_voxels_;
  const auto take = [&](UntypedView& view, DataType type, std::int64_t count, const char* label) {
    view = device_.allocate_untyped(type, static_cast<std::size_t>(count), {.label = std::string(label)});
  };
  for (std::size_t set = 0; set < (slabs() > 1 ? 2U : 1U); ++set) {
    take(buffers_[set].volume, whole_.type, voxels, "slab of a volume");
    take(buffers_[set].counts, DataType::int32, stacks, "counts of a slab");
    take(buffers_[set].distances, whole_.distance_type(), stacks * whole_.max_patches, "distances of a slab");
    take(buffers_[set].indices, DataType::int64, stacks * whole_.max_patches, "indices of a slab");
  }
}

SlabWork PatchStream::work_of(std::int64_t slab) {
  return {.upload = [this, slab](Queue& queue) { upload(queue, slab); },
          .run = [this, slab](Queue& queue) { run(queue, slab); },
          .download = [this, slab](Queue& queue) { download(queue, slab); }};
}

void PatchStream::upload(Queue& queue, std::int64_t slab) const {
  const PatchMatch problem = problem_of(slab);
  upload_part(queue, buffers_[static_cast<std::size_t>(slab % 2)].volume, 0, host_.volume.memory(),
              problem.slab.first_slice * slice_voxels_, problem.held().product());
}

void PatchStream::run(Queue& queue, std::int64_t slab) const {
  const Buffers& buffers = buffers_[static_cast<std::size_t>(slab % 2)];
  queue.run(
      device_.kernel(problem_of(slab), options_),
      {.volume = buffers.volume, .counts = buffers.counts, .distances = buffers.distances, .indices = buffers.indices});
}

void PatchStream::download(Queue& queue, std::int64_t slab) const {
  const Buffers& buffers = buffers_[static_cast<std::size_t>(slab % 2)];
  const std::int64_t first = slab * planes_of_slab_ * plane_stacks_;
  const std::int64_t count = problem_of(slab).references().product();
  const std::int64_t places = whole_.max_patches;
  download_part(queue, buffers.counts, host_.counts.memory(), first, count);
  download_part(queue, buffers.distances, host_.distances.memory(), first * places, count * places);
  download_part(queue, buffers.indices, host_.indices.memory(), first * places, count * places);
}

}  // namespace

StreamReport stream_in_slabs(const Device& device, const PatchMatch& problem, const PatchMatch::HostOperands& operands,
                             const StreamOptions& options) {
  if (problem.slab != PatchSlab()) {
    throw Error(ErrorCode::invalid_argument,
                backend::sentence("the problem to stream is a slab of patch_match already: it holds ",
                                  problem.slab.slices, " slices"));
  }
  PatchStream stream(device, problem, operands, options);
  StreamReport report{.kernel = stream.info(), .memory_bytes = stream.memory_bytes(), .slabs = {}};
  stream.allocate();
  SlabPipeline pipeline(device, options.progress);
  report.slabs = pipeline.run(stream.slabs(), [&](std::int64_t slab) { return stream.work_of(slab); });
  return report;
}

}  // namespace tessera::detail
