// Pieces of a volume through the device.
#include "tools/denoise/volume_denoiser.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "tools/denoise/volume_stream.h"
#include "tools/output/table.h"
#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

/// A piece should take about so long: shorter ones repeat more of their neighbours' work, longer ones tell less.
constexpr double kPiece_s = 10;
/// Volumes of up to so many margins are one piece, and no piece but the first has less: its two margins are then at
/// most a third of its own planes.
constexpr std::int64_t kUsualMargins = 6;
/// Of the first piece, by which the speed is found.
constexpr std::int64_t kFirstMargins = 2;

/// Where planes along an axis lie: one behind the other in blocks, one for each channel and each place on slower axes.
struct PlaneBlocks {
  template <class Problem>
  PlaneBlocks(const Problem& problem, std::int64_t PerAxis::*axis) {
    const PerAxis& size = problem.size;
    plane = axis == &PerAxis::z ? size.x * size.y : axis == &PerAxis::y ? size.x : 1;
    count = problem.channels * size.product() / (plane * size.*axis);
  }
  /// The first voxel of a plane, in a volume with so many along the axis.
  [[nodiscard]] std::ptrdiff_t place(std::int64_t block, std::int64_t number, std::int64_t planes) const {
    return (block * planes + number) * plane;
  }

  std::int64_t count = 1;
  std::int64_t plane = 1;  ///< voxels
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
  return (problem.has(DenoiseStage::hard_threshold) ? work_of(problem, problem.hard) : 0) +
         (problem.has(DenoiseStage::wiener) ? work_of(problem, problem.wiener) : 0);
}

double work_of(const NonlocalMeans& problem) {
  // A candidate takes a few operations for each axis of the patch.
  const auto of_candidate = static_cast<double>(problem.patch.x + problem.patch.y + problem.patch.z + 10);
  return static_cast<double>(problem.size.product()) * static_cast<double>(problem.window.product()) *
         static_cast<double>(problem.channels) * of_candidate;
}

const char* name_of_step(const Denoise& problem) {
  return problem.stage == DenoiseStage::wiener ? "Wiener filter" : "hard threshold";
}

template <class T>
std::vector<T> VolumeDenoiser<T>::run(const Denoise& problem, std::vector<T> volume) {
  if (plan_.most_planes == 0) {
    const DenoiseStreamPlan plan =
        plan_stream(device_, problem, {.kernel = plan_.kernel, .memory_bytes = plan_.memory_bytes});
    if (plan.passes.size() > 1 || plan.passes[0].count() > 1)
      return stream_volume(device_, problem, plan, plan_.kernel, std::move(volume), progress_, variant_);
  }
  largest_ = 0;
  if constexpr (std::is_floating_point_v<T>) largest_ = largest_of(volume, largest_);
  const auto axis = longest_axis(problem.size);
  const std::int64_t planes = problem.size.*axis;
  Denoise step = problem;
  step.stage = DenoiseStage::hard_threshold;
  const std::vector<T> basic =
      run_pass<DenoisePieces>({{step, axis, planes}, work_of(step), volume, nullptr, name_of_step(step)});
  if constexpr (std::is_floating_point_v<T>) largest_ = largest_of(basic, largest_);
  step.stage = DenoiseStage::wiener;
  return run_pass<DenoisePieces>({{step, axis, planes}, work_of(step), volume, &basic, name_of_step(step)});
}

template <class T>
std::vector<T> VolumeDenoiser<T>::run(const NonlocalMeans& problem, const std::vector<T>& volume) {
  largest_ = 0;
  if constexpr (std::is_floating_point_v<T>) largest_ = largest_of(volume, largest_);
  return run_pass<MeansPieces>({MeansPieces(problem), work_of(problem), volume, nullptr, "non-local means"});
}

template <class T>
template <class Pieces>
std::vector<T> VolumeDenoiser<T>::run_pass(const Pass<Pieces>& pass) {
  const Pieces& pieces = pass.pieces;
  const double work = pass.work / static_cast<double>(pieces.planes());
  std::vector<T> result(pass.volume.size());
  for (std::int64_t first = 0; first < pieces.planes();) {
    const std::int64_t count = planes_of_next(pieces, first, work);
    const DenoisePiece piece = pieces.cut(first, count);
    bool did_fit = false;
    try {
      did_fit = run_piece(pass, piece, result);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || count == pieces.least()) throw;
    }
    if (did_fit) {
      first = piece.end;
      continue;
    }
    if (count == pieces.least()) {
      const PerAxis& size = pieces.whole().size;
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("{} planes of {} x {} x {} voxels do not fit into {} of memory on {}", piece.held(),
                              size.x, size.y, size.z, format_bytes(memory_limit()), device_.id()));
    }
    fitting_planes_ = std::max(pieces.least(), count / 2);
  }
  return result;
}

template <class T>
template <class Pieces>
std::int64_t VolumeDenoiser<T>::planes_of_next(const Pieces& pieces, std::int64_t first, double work) const {
  const std::int64_t left = pieces.planes() - first;
  const std::int64_t margin = pieces.margin();
  std::int64_t count = left;
  if (pieces.planes() > kUsualMargins * margin) {
    count = kFirstMargins * margin;
    if (progress_.speed() > 0) {
      const double in_time = std::min(kPiece_s * progress_.speed() / work, static_cast<double>(left));
      count = std::max(static_cast<std::int64_t>(in_time), kUsualMargins * margin);
    }
    if (left - count < kFirstMargins * margin) count = left;
  }
  if (fitting_planes_ > 0) count = std::min(count, fitting_planes_);
  if (plan_.most_planes > 0) count = std::min(count, plan_.most_planes);
  return std::max(count, pieces.least());
}

/// The piece's part of a volume. Of floats its spare plane gets the volume's largest magnitude, by which the operator
/// chooses its units.
template <class T>
template <class Pieces>
std::vector<T> VolumeDenoiser<T>::held(const Pieces& pieces, const DenoisePiece& piece,
                                       const std::vector<T>& volume) const {
  const PlaneBlocks blocks(pieces.whole(), pieces.axis());
  std::vector<T> part;
  part.reserve(static_cast<std::size_t>(blocks.count * piece.held() * blocks.plane));
  for (std::int64_t block = 0; block < blocks.count; ++block) {
    const auto first = volume.begin() + blocks.place(block, piece.held_first, pieces.planes());
    part.insert(part.end(), first, first + piece.held() * blocks.plane);
  }
  const std::int64_t spare = pieces.spare_plane(piece);
  if (std::is_floating_point_v<T> && spare >= 0 && pieces.whole().sigma != 0)
    part[static_cast<std::size_t>(blocks.place(0, spare, piece.held()))] = largest_;
  return part;
}

template <class T>
std::uint64_t VolumeDenoiser<T>::memory_limit() const {
  constexpr std::uint64_t kTenths = 9;
  return plan_.memory_bytes != 0 ? plan_.memory_bytes : device_.info().memory_free_bytes / 10 * kTenths;
}

template <class T>
struct VolumeDenoiser<T>::Run {
  Run(const Device& device, std::size_t voxels, bool has_basic)
      : computed(voxels),
        queue(device),
        volume(device.allocate<T>(voxels, {.label = "voxels"})),
        basic(device.allocate<T>(has_basic ? voxels : 0, {.label = "basic estimate"})),
        result(device.allocate<T>(voxels, {.label = "denoised voxels"})) {}

  std::vector<T> computed;
  Queue queue;
  Buffer<T> volume;
  Buffer<T> basic;
  Buffer<T> result;
};

template <class T>
template <class Pieces>
bool VolumeDenoiser<T>::run_piece(const Pass<Pieces>& pass, const DenoisePiece& piece, std::vector<T>& result) {
  const Pieces& pieces = pass.pieces;
  const std::vector<T>* const basic = pass.basic;
  progress_.show(pass.doing);
  const auto problem = pieces.problem_of(piece);
  using Problem = std::remove_const_t<decltype(problem)>;
  const auto voxels = static_cast<std::size_t>(problem.size.product() * problem.channels);
  const auto kernel = device_.kernel(problem, plan_.kernel);
  const std::uint64_t bytes = kernel.info().workspace_bytes + voxels * sizeof(T) * (basic != nullptr ? 3 : 2);
  const std::uint64_t limit = memory_limit();  // 0 where the driver does not say
  if (limit != 0 && bytes > limit) return false;
  variant_ = kernel.info().variant;
  auto run = std::make_unique<Run>(device_, voxels, basic != nullptr);
  typename Problem::Operands operands;
  operands.volume = run->volume;
  operands.result = run->result;
  run->queue.upload(run->volume, held(pieces, piece, pass.volume));
  if constexpr (std::is_same_v<Problem, Denoise>) {
    if (basic != nullptr) {
      run->queue.upload(run->basic, held(pieces, piece, *basic));
      operands.basic = run->basic;
    }
  }
  run->queue.run(kernel, operands);
  run->queue.download(run->result, std::span(run->computed));
  const double share = static_cast<double>(piece.own()) / static_cast<double>(pieces.planes());
  if (!progress_.wait([end = run->queue.record()] { return end.is_done(); }, pass.work * share, pass.doing)) {
    static_cast<void>(run.release());  // the destructors would wait for the device
    abandon_device_work();
    throw Interrupted();
  }
  run->queue.finish();
  const PlaneBlocks blocks(pieces.whole(), pieces.axis());
  for (std::int64_t block = 0; block < blocks.count; ++block) {
    const std::ptrdiff_t from = blocks.place(block, piece.first - piece.held_first, piece.held());
    std::copy_n(run->computed.begin() + from, piece.own() * blocks.plane,
                result.begin() + blocks.place(block, piece.first, pieces.planes()));
  }
  return true;
}

template class VolumeDenoiser<std::uint8_t>;
template class VolumeDenoiser<std::uint16_t>;
template class VolumeDenoiser<float>;

}  // namespace tessera::tool
