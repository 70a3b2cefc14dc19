// Volume by volume: read, denoised, written.
#include "tools/denoise/denoise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <tessera/ops/denoise_sigma.h>

#include "tools/denoise/filter_voxels.h"
#include "tools/output/same_file.h"
#include "tools/process/add_time.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {

namespace {

/// Of one channel, or the root of the mean square of three.
template <class T>
double estimated_sigma(const std::vector<T>& voxels, const VolumeHead& head) {
  const auto count = static_cast<std::size_t>(head.size.product());
  double squares = 0;
  for (std::int64_t channel = 0; channel < head.channels; ++channel) {
    const auto first = static_cast<std::size_t>(channel) * count;
    const double sigma = estimate_sigma(std::span(voxels).subspan(first, count), head.size);
    squares += sigma * sigma;
  }
  return std::sqrt(squares / static_cast<double>(head.channels));
}

/// Windows of the profiles; normal is the operator's own.
NonlocalMeans means_of_profile(DenoiseProfile profile, NonlocalMeans problem) {
  constexpr std::int64_t kFastImage = 13, kHighImage = 39;
  constexpr std::int64_t kFastVolume = 7, kHighVolume = 15;
  const bool is_image = problem.size.z == 1;
  if (profile != DenoiseProfile::normal) {
    const bool is_fast = profile == DenoiseProfile::fast;
    const std::int64_t side = is_image ? is_fast ? kFastImage : kHighImage : is_fast ? kFastVolume : kHighVolume;
    problem.window = {side, side, is_image ? 1 : side};
  }
  return with_usual_parameters(problem);
}

class FileDenoiser {
 public:
  FileDenoiser(const DenoiseRequest& request, const Device& device)
      : request_(request),
        device_(device),
        file_(open_volume(request.input, {.most_pixels = request.most_pixels})),
        scale_(std::abs(file_->head().slope)) {
    report_.head = file_->head();
    report_.least_sigma = std::numeric_limits<double>::infinity();
  }

  DenoiseReport run() {
    refuse_wrong_request();
    const std::unique_ptr<VolumeWriter> writer = file_->writer(request_.output);
    double work = 0;
    with_problem(report_.head.size, filter_type(report_.head.type), 1, 0,
                 [&](const auto& problem) { work = work_of(problem); });
    DenoiseProgress progress(work * static_cast<double>(report_.head.frames));
    for (std::int64_t frame = 0; frame < report_.head.frames; ++frame) {
      progress.show("reading");
      FilterVoxels voxels = to_filter(file_->read(), file_->name());
      std::visit([&](auto& numbers) { denoise(numbers, usual_range(voxels), progress); }, voxels.numbers);
      progress.show("writing");
      writer->write(to_stored(std::move(voxels)));
    }
    writer->finish();
    return report_;
  }

 private:
  /// Before a long file is read: what the operator says to the request is heard on a corner of the volume. It becomes
  /// a UsageError, because it comes from the command line.
  void refuse_wrong_request() const {
    constexpr std::int64_t kCorner = 64;
    const PerAxis& size = report_.head.size;
    const PerAxis corner{std::min(kCorner, size.x), std::min(kCorner, size.y), std::min(kCorner, size.z)};
    try {
      with_problem(corner, filter_type(report_.head.type), request_.sigma.value_or(1) / scale_,
                   request_.range.value_or(0) / scale_,
                   [&](const auto& problem) { (void)device_.kernel(problem, request_.plan.kernel); });
    } catch (const Error& error) {
      if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
      throw;
    }
  }

  /// Calls `work` with the problem of the request's method, all parameters given.
  template <class Work>
  void with_problem(const PerAxis& size, DataType type, double sigma, double range, const Work& work) const {
    if (request_.method == DenoiseMethod::nlm)
      return work(means_of_profile(request_.profile,
                                   {.size = size, .channels = report_.head.channels, .sigma = sigma, .type = type}));
    Denoise problem{.size = size,
                    .channels = report_.head.channels,
                    .sigma = sigma,
                    .range = range,
                    .type = type,
                    .profile = request_.profile};
    problem = with_profile(problem);
    fit_patches(problem);
    work(problem);
  }

  template <class T>
  void denoise(std::vector<T>& voxels, double range, DenoiseProgress& progress) {
    progress.show("estimating sigma");
    const double sigma = request_.sigma ? *request_.sigma / scale_ : estimated_sigma(voxels, report_.head);
    if (request_.range) range = *request_.range / scale_;
    VolumeDenoiser<T> denoiser(device_, request_.plan, progress);
    with_problem(report_.head.size, data_type_of<T>, sigma, range,
                 [&](const auto& problem) { voxels = denoiser.run(problem, std::move(voxels)); });
    report_.variant = denoiser.variant();
    report_.least_sigma = std::min(report_.least_sigma, sigma * scale_);
    report_.most_sigma = std::max(report_.most_sigma, sigma * scale_);
  }

  const DenoiseRequest& request_;
  const Device& device_;
  std::unique_ptr<VolumeFile> file_;
  double scale_;
  DenoiseReport report_;
};

}  // namespace

DenoiseReport denoise_file(const DenoiseRequest& request, const Device& device) {
  double seconds = 0;
  DenoiseReport report;
  try {
    const AddTime timer(seconds);
    if (!request.replaces_input) refuse_same_file(request.input, request.output, "the file");
    report = FileDenoiser(request, device).run();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, fmt::format("there is not enough memory for the file '{}'", request.input));
  }
  report.seconds = seconds;
  return report;
}

}  // namespace tessera::tool
