// Pieces of a volume through the device.
#include "tools/denoise/volume_denoiser.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace tessera::tool {

namespace {

/// A piece should take about so long: shorter ones repeat more of their neighbours' work, longer ones tell less.
constexpr double kPiece_s = 10;
/// Volumes of up to so many margins are one piece, and no piece but the first has less: its two margins are then at
/// most a third of its own planes.
constexpr std::int64_t kUsualMargins = 6;
/// Of the first piece, by which the speed is found.
constexpr std::int64_t kFirstMargins = 2;
/// Of the memory that the device has free.
constexpr double kMemoryShare = 0.9;

/// Where planes along an axis lie: one behind the other in blocks, which are channels, or along y the planes of z.
struct PlaneBlocks {
  PlaneBlocks(const Denoise& problem, std::int64_t PerAxis::*axis)
      : count(problem.channels * (axis == &PerAxis::z ? 1 : problem.size.z)),
        plane(problem.size.x * (axis == &PerAxis::z ? problem.size.y : 1)) {}
  /// The first voxel of a plane, in a volume with so many along the axis.
  [[nodiscard]] std::ptrdiff_t place(std::int64_t block, std::int64_t number, std::int64_t planes) const {
    return (block * planes + number) * plane;
  }

  std::int64_t count;
  std::int64_t plane;  ///< voxels
};

double work_of(const Denoise& problem, const DenoiseStep& step) {
  const PatchMatch matching = problem.matching(step);
  // Matching takes most of the time, and grows with references and candidates.
  return static_cast<double>(matching.references().product()) * static_cast<double>(step.window.product()) *
         static_cast<double>(problem.channels + 1);
}

template <class T>
T largest_of(const std::vector<T>& voxels, T so_far) {
  for (const T voxel : voxels) {
    const T magnitude = std::abs(voxel);
    if (std::isfinite(magnitude)) so_far = std::max(so_far, magnitude);
  }
  return so_far;
}

}  // namespace

double work_of(const Denoise& problem) {
  return work_of(problem, problem.hard) + work_of(problem, problem.wiener);
}

template <class T>
std::vector<T> VolumeDenoiser<T>::run(const std::vector<T>& volume) {
  largest_ = 0;
  if constexpr (std::is_floating_point_v<T>) largest_ = largest_of(volume, largest_);
  const std::vector<T> basic = run_step(DenoiseStage::hard_threshold, volume, nullptr);
  if constexpr (std::is_floating_point_v<T>) largest_ = largest_of(basic, largest_);
  return run_step(DenoiseStage::wiener, volume, &basic);
}

template <class T>
std::vector<T> VolumeDenoiser<T>::run_step(DenoiseStage stage, const std::vector<T>& volume,
                                           const std::vector<T>* basic) {
  Denoise problem = problem_;
  problem.stage = stage;
  const DenoiseStep& step = basic != nullptr ? problem.wiener : problem.hard;
  const PieceCutter cutter(problem, step);
  const double work = work_of(problem, step) / static_cast<double>(cutter.planes());
  std::vector<T> result(volume.size());
  for (std::int64_t first = 0; first < cutter.planes();) {
    const std::int64_t count = planes_of_next(cutter, first, work);
    const Piece piece = cutter.cut(first, count);
    try {
      run_piece(cutter, piece, work * static_cast<double>(piece.end - first), volume, basic, result);
      first = piece.end;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || count <= cutter.least()) throw;
      memory_planes_ = std::max(cutter.least(), count / 2);
    }
  }
  return result;
}

template <class T>
std::int64_t VolumeDenoiser<T>::planes_of_next(const PieceCutter& cutter, std::int64_t first, double work) const {
  const std::int64_t left = cutter.planes() - first;
  std::int64_t count = left;
  if (cutter.planes() > kUsualMargins * cutter.margin()) {
    count = kFirstMargins * cutter.margin();
    if (progress_.speed() > 0) {
      const double in_time = std::min(kPiece_s * progress_.speed() / work, static_cast<double>(left));
      count = std::max(static_cast<std::int64_t>(in_time), kUsualMargins * cutter.margin());
    }
    if (left - count < kFirstMargins * cutter.margin()) count = left;
  }
  if (memory_planes_ > 0) count = std::min(count, memory_planes_);
  if (plan_.most_planes > 0) count = std::min(count, plan_.most_planes);
  return std::max(count, cutter.least());
}

/// The piece's part of a volume. Of floats the first or last plane gets the volume's largest magnitude, by which the
/// operator chooses its units: no voxel of the piece's own depends on that plane.
template <class T>
std::vector<T> VolumeDenoiser<T>::held(const PieceCutter& cutter, const Piece& piece,
                                       const std::vector<T>& volume) const {
  const PlaneBlocks blocks(problem_, cutter.axis());
  const std::int64_t planes = piece.held_end - piece.held_first;
  std::vector<T> part;
  part.reserve(static_cast<std::size_t>(blocks.count * planes * blocks.plane));
  for (std::int64_t block = 0; block < blocks.count; ++block) {
    const auto first = volume.begin() + blocks.place(block, piece.held_first, cutter.planes());
    part.insert(part.end(), first, first + planes * blocks.plane);
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (piece.held_first > 0) {
      part.front() = largest_;
    } else if (piece.held_end < cutter.planes()) {
      part[static_cast<std::size_t>(blocks.place(0, planes - 1, planes))] = largest_;
    }
  }
  return part;
}

template <class T>
void VolumeDenoiser<T>::run_piece(const PieceCutter& cutter, const Piece& piece, double work,
                                  const std::vector<T>& volume, const std::vector<T>* basic, std::vector<T>& result) {
  const std::string doing = basic != nullptr ? "Wiener filter" : "hard threshold";
  progress_.show(doing);
  const Denoise problem = cutter.problem_of(piece);
  const auto kernel = device_.kernel(problem, plan_.kernel);
  variant_ = kernel.info().variant;
  const auto voxels = static_cast<std::size_t>(problem.size.product() * problem.channels);
  const double needed = static_cast<double>(kernel.info().workspace_bytes) +
                        static_cast<double>(voxels * sizeof(T)) * (basic != nullptr ? 3 : 2);
  const double free = kMemoryShare * static_cast<double>(device_.info().memory_free_bytes);
  if (free > 0 && needed > free && piece.end - piece.first > cutter.least()) {
    throw Error(ErrorCode::out_of_memory, "the piece does not fit");
  }
  std::vector<T> computed(voxels);
  Queue queue(device_);
  const auto on_device = device_.allocate<T>(voxels, {.label = "voxels"});
  const auto estimate = device_.allocate<T>(basic != nullptr ? voxels : 0, {.label = "basic estimate"});
  const auto denoised = device_.allocate<T>(voxels, {.label = "denoised voxels"});
  queue.upload(on_device, held(cutter, piece, volume));
  Denoise::Operands operands{.volume = on_device, .basic = {}, .result = denoised};
  if (basic != nullptr) {
    queue.upload(estimate, held(cutter, piece, *basic));
    operands.basic = estimate;
  }
  queue.run(kernel, operands);
  queue.download(denoised, std::span(computed));
  progress_.wait(queue.record(), work, doing);
  queue.finish();
  const PlaneBlocks blocks(problem_, cutter.axis());
  for (std::int64_t block = 0; block < blocks.count; ++block) {
    const std::ptrdiff_t from = blocks.place(block, piece.first - piece.held_first, piece.held_end - piece.held_first);
    std::copy_n(computed.begin() + from, (piece.end - piece.first) * blocks.plane,
                result.begin() + blocks.place(block, piece.first, cutter.planes()));
  }
}

template class VolumeDenoiser<std::uint8_t>;
template class VolumeDenoiser<std::uint16_t>;
template class VolumeDenoiser<float>;

}  // namespace tessera::tool
