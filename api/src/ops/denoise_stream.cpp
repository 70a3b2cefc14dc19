// denoise in pieces: where the volume does not fit at once, first the hard threshold of all pieces, whose results are
// the basic estimate in the host's memory, then the Wiener filter of all pieces.
//
//   volume   [ piece ][ piece ][ piece ] --hard threshold--> basic [ ][ ][ ]     The second pass begins when the first
//      |                                                       |                 has ended: of floats its units are
//      +-------------------------------------------------------+-- Wiener --> result       those of all of `basic`.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <tessera/ops/denoise_pieces.h>
#include <tessera/queue.h>

#include "../boundary.h"
#include "../core_of.h"
#include "../slab_pipeline.h"
#include "backend/sentence.h"
#include "denoise_check.h"
#include "denoise_cut.h"
#include "streams.h"

namespace tessera::detail {
namespace {

using backend::sentence;

/// The largest finite magnitude of floats in the host's memory: bits of magnitudes rise as these do.
float largest_magnitude(const HostMemory& memory, std::int64_t count) noexcept {
  constexpr std::uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
  const auto* const voxels = static_cast<const float*>(memory.data);
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(voxels[i]) & kMagnitude;
    largest = std::max(largest, magnitude < kInfinity ? magnitude : 0);
  }
  return std::bit_cast<float>(largest);
}

/// Where planes along an axis lie: side by side in blocks, one for each channel and each place on slower axes.
struct PlaneBlocks {
  explicit PlaneBlocks(const DenoisePieces& pieces) noexcept : planes(pieces.planes()) {
    const PerAxis& size = pieces.whole().size;
    plane = pieces.axis() == &PerAxis::z ? size.x * size.y : pieces.axis() == &PerAxis::y ? size.x : 1;
    count = pieces.whole().channels * size.product() / (plane * planes);
  }

  std::int64_t planes;  ///< of the volume
  std::int64_t plane;   ///< voxels
  std::int64_t count;
};

class DenoiseStream {
 public:
  DenoiseStream(const Device& device, const DenoiseCut& cut, const Denoise::HostOperands& host);

  [[nodiscard]] KernelInfo info() { return kernel_of(cut_.plan.passes[0], cut_.plan.passes[0].piece(0)).info(); }
  [[nodiscard]] std::int64_t slabs() const noexcept;
  void allocate();
  [[nodiscard]] std::vector<SlabTimes> run(SlabPipeline& pipeline, std::int64_t& done);

 private:
  struct Buffers {
    UntypedView volume, basic, result;
  };
  /// A pass's own: what it reads beside the volume, where it writes, and what spare planes hold.
  struct Pass {
    const DenoisePieces& pieces;
    PlaneBlocks blocks;
    HostMemory basic;
    HostMemory result;
    float largest = 0;
  };

  [[nodiscard]] OperatorKernel<Denoise>& kernel_of(const DenoisePieces& pieces, const DenoisePiece& piece);
  [[nodiscard]] SlabWork work_of(const Pass& pass, std::int64_t number);
  void upload(Queue& queue, const Pass& pass, const DenoisePiece& piece, const Buffers& buffers) const;
  void download(Queue& queue, const Pass& pass, const DenoisePiece& piece, const Buffers& buffers) const;

  const Device& device_;
  const DenoiseCut& cut_;
  const Denoise::HostOperands& host_;
  std::vector<Pass> passes_;
  std::unique_ptr<std::byte[]> basic_;                       // of a volume that takes two passes
  std::map<std::int64_t, OperatorKernel<Denoise>> kernels_;  // of a pass, by the planes that a piece holds
  std::array<Buffers, 2> buffers_;
};

DenoiseStream::DenoiseStream(const Device& device, const DenoiseCut& cut, const Denoise::HostOperands& host)
    : device_(device), cut_(cut), host_(host) {
  for (const DenoisePieces& pieces : cut.plan.passes)
    passes_.push_back({pieces, PlaneBlocks(pieces), host.basic.memory(), host.result.memory()});
  if (cut.plan.host_bytes == 0) return;
  const auto bytes = static_cast<std::size_t>(cut.plan.host_bytes);
  basic_.reset(new (std::nothrow) std::byte[bytes]);
  if (basic_ == nullptr)
    throw Error(ErrorCode::out_of_memory,
                sentence("the basic estimate of denoise takes ", bytes,
                         " bytes of the host's memory between its two steps, but they are not there"));
  const HostMemory basic{basic_.get(), host.volume.memory().count, host.volume.memory().type, true};
  passes_.front().result = passes_.back().basic = basic;
}

std::int64_t DenoiseStream::slabs() const noexcept {
  std::int64_t slabs = 0;
  for (const Pass& pass : passes_) slabs += pass.pieces.count();
  return slabs;
}

void DenoiseStream::allocate() {
  const auto take = [&](UntypedView& view, std::int64_t voxels, const char* label) {
    if (voxels == 0) return;
    view = device_.allocate_untyped(cut_.problem.type, static_cast<std::size_t>(voxels), {.label = label});
  };
  for (std::int64_t set = 0; set < cut_.sets; ++set) {
    Buffers& buffers = buffers_[static_cast<std::size_t>(set)];
    take(buffers.volume, cut_.voxels, "piece of a volume");
    take(buffers.basic, cut_.basic_voxels, "piece of a basic estimate");
    take(buffers.result, cut_.voxels, "denoised piece");
  }
}

std::vector<SlabTimes> DenoiseStream::run(SlabPipeline& pipeline, std::int64_t& done) {
  std::vector<SlabTimes> times;
  float largest = 0;
  for (Pass& pass : passes_) {
    const bool counts_in_units = cut_.problem.type == DataType::float32 && pass.pieces.count() > 1;
    const std::int64_t voxels = cut_.problem.size.product() * cut_.problem.channels;
    if (counts_in_units && largest == 0) largest = largest_magnitude(host_.volume.memory(), voxels);
    if (counts_in_units && pass.pieces.whole().stage == DenoiseStage::wiener)
      largest = std::max(largest, largest_magnitude(pass.basic, voxels));
    pass.largest = largest;
    kernels_.clear();
    const std::vector<SlabTimes> more = pipeline.run(
        pass.pieces.count(), [&](std::int64_t number) { return work_of(pass, number); }, cut_.sets);
    times.insert(times.end(), more.begin(), more.end());
    done += pass.pieces.count();
  }
  return times;
}

OperatorKernel<Denoise>& DenoiseStream::kernel_of(const DenoisePieces& pieces, const DenoisePiece& piece) {
  const auto found = kernels_.find(piece.held());
  if (found != kernels_.end()) return found->second;
  return kernels_.emplace(piece.held(), device_.kernel(pieces.problem_of(piece), cut_.kernel)).first->second;
}

SlabWork DenoiseStream::work_of(const Pass& pass, std::int64_t number) {
  const DenoisePiece piece = pass.pieces.piece(number);
  const Buffers& buffers = buffers_[static_cast<std::size_t>(number % cut_.sets)];
  const auto run = [this, &pass, piece, &buffers](Queue& queue) {
    const bool has_basic = pass.pieces.whole().stage == DenoiseStage::wiener;
    queue.run(kernel_of(pass.pieces, piece), {.volume = buffers.volume,
                                              .basic = has_basic ? ConstOperand(buffers.basic) : ConstOperand(),
                                              .result = buffers.result});
  };
  return {.upload = [this, &pass, piece, &buffers](Queue& queue) { upload(queue, pass, piece, buffers); },
          .run = run,
          .download = [this, &pass, piece, &buffers](Queue& queue) { download(queue, pass, piece, buffers); }};
}

void DenoiseStream::upload(Queue& queue, const Pass& pass, const DenoisePiece& piece, const Buffers& buffers) const {
  const auto upload_planes = [&](const UntypedView& view, const HostMemory& memory) {
    const PlaneBlocks& blocks = pass.blocks;
    for (std::int64_t block = 0; block < blocks.count; ++block)
      upload_part(queue, view, block * piece.held() * blocks.plane, memory,
                  (block * blocks.planes + piece.held_first) * blocks.plane, piece.held() * blocks.plane);
  };
  upload_planes(buffers.volume, host_.volume.memory());
  if (pass.pieces.whole().stage == DenoiseStage::wiener) upload_planes(buffers.basic, pass.basic);
  const std::int64_t spare = pass.pieces.spare_plane(piece);
  if (cut_.problem.type != DataType::float32 || cut_.problem.sigma == 0 || spare < 0) return;
  upload_part(queue, buffers.volume, spare * pass.blocks.plane, {&pass.largest, 1, DataType::float32, true}, 0, 1);
}

void DenoiseStream::download(Queue& queue, const Pass& pass, const DenoisePiece& piece, const Buffers& buffers) const {
  const PlaneBlocks& blocks = pass.blocks;
  const std::int64_t own = piece.own() * blocks.plane;
  for (std::int64_t block = 0; block < blocks.count; ++block) {
    const std::int64_t from = (block * piece.held() + piece.first - piece.held_first) * blocks.plane;
    download_part(queue, buffers.result.part(static_cast<std::size_t>(from), static_cast<std::size_t>(own)),
                  pass.result, (block * blocks.planes + piece.first) * blocks.plane, own);
  }
}

}  // namespace

StreamReport stream_in_slabs(const Device& device, const Denoise& problem, const Denoise::HostOperands& operands,
                             const StreamOptions& options) {
  const DenoiseCut cut = cut_denoise(device, problem, options);
  DenoiseStream stream(device, cut, operands);
  StreamReport report{.kernel = stream.info(), .memory_bytes = cut.plan.memory_bytes, .slabs = {}};
  stream.allocate();
  std::int64_t done = 0;  // slabs of passes that have ended
  const auto progress = [&](const StreamProgress& of_pass) {
    if (options.progress) options.progress({.done = done + of_pass.done, .slabs = stream.slabs()});
  };
  SlabPipeline pipeline(device, progress);
  pipeline.reserve_workspace(cut.workspace_bytes);
  report.slabs = stream.run(pipeline, done);
  return report;
}

}  // namespace tessera::detail
