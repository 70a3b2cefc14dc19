// The variants "marching" and "separable": which problems they take, and how the output is cut into strips and runs.
#include <algorithm>
#include <optional>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "mathematics/conv2d_filter.h"
#include "mathematics/division.h"
#include "ops/conv2d/conv2d_operands.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

constexpr std::array<std::int64_t, 5> kRowsPerRun{8, 16, 32, 64, 128};
/// The longest run whose kernel may overlap the kernel before. Short runs make several rounds on the card, and groups
/// of the next kernel fill the gaps of the last round (H200, 3 x 3: 38.0 us without, 36.5 with overlap). Long runs all
/// begin at once. There the waiting groups of the next kernel take places, and some multiprocessors get more work than
/// others (5 x 5: 42 us without, 56 with overlap).
constexpr std::int64_t kLongestOverlapping = 16;
/// Warps that a multiprocessor should have at least, to hide the latency of its loads.
constexpr std::int64_t kWarpsPerUnit = 15;
/// The rows of a run for filters of 3, 5 and 7 pixels, where the image has enough rows: what was fastest for int32,
/// 4096 x 4096 on an H200.
std::int64_t longest_run(const Conv2d& problem) {
  return problem.filter_height == 3 ? 8 : problem.filter_height == 5 ? 16 : 64;
}

/// Where the sums lie against the output, and how many strips cover it.
struct Geometry {
  explicit Geometry(const Conv2d& problem)
      : shift_y(problem.filter_height / 2 - problem.anchor_y), shift_x(problem.filter_width / 2 - problem.anchor_x) {
    first_x = shift_x >= 0 ? shift_x / kMarchingPixels * kMarchingPixels : -kMarchingPixels;
    strips = mathematics::ceil_div(problem.output_width() + shift_x - first_x, kMarchingColumns);
  }
  std::int64_t shift_y;
  std::int64_t shift_x;
  std::int64_t first_x;
  std::int64_t strips;
};

std::int64_t runs_of(const Conv2d& problem, std::int64_t rows_per_run) {
  return mathematics::ceil_div(problem.output_height(), rows_per_run);
}

template <class Pixel>
class MarchingKernel final : public backend::Kernel {
  using Sum = Conv2dSum<Pixel>;

 public:
  /// `weights`: as Conv2dMarchingArguments holds them.
  MarchingKernel(const CudaDevice& device, const Conv2d& problem, const Image& image, const std::string& function,
                 const std::vector<double>& weights, std::int64_t rows_per_run)
      : vectors_(device.context(), image, function + "_vectors", grid_for(device, problem, rows_per_run)),
        pixels_(device.context(), image, function + "_pixels", grid_for(device, problem, rows_per_run)),
        is_empty_(is_empty(problem)) {
    const Geometry geometry(problem);
    arguments_.conv2d = conv2d_arguments<Pixel>(problem);
    for (std::size_t i = 0; i < weights.size(); ++i)
      arguments_.weights[i] = mathematics::conv2d_weight<Sum>(weights[i]);
    arguments_.first_x = geometry.first_x;
    arguments_.strips = geometry.strips;
    arguments_.runs = runs_of(problem, rows_per_run);
    arguments_.rows_per_run = static_cast<int>(rows_per_run);
    arguments_.shift_y = static_cast<int>(geometry.shift_y);
    arguments_.shift_x = static_cast<int>(geometry.shift_x);
    fits_vectors_ = problem.width % kMarchingPixels == 0 && problem.output_width() % kMarchingPixels == 0 &&
                    geometry.shift_x % kMarchingPixels == 0;
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& /*workspace*/) override {
    if (is_empty_) return;
    Conv2dMarchingArguments<Pixel> arguments = arguments_;  // a kernel may be launched on several queues at once
    arguments.conv2d.image = pointer_to<const Pixel>(operands[0]);
    arguments.conv2d.output = pointer_to<Sum>(operands[1]);
    const bool is_aligned = address_of(operands[0]) % (kMarchingPixels * sizeof(Pixel)) == 0 &&
                            address_of(operands[1]) % (kMarchingPixels * sizeof(Sum)) == 0;
    (fits_vectors_ && is_aligned ? vectors_ : pixels_).enqueue(queue, arguments);
  }

 private:
  /// A group, one warp, for each run of each strip; the kernel loops where runs or images are more than the card
  /// allows.
  static LaunchGrid grid_for(const CudaDevice& device, const Conv2d& problem, std::int64_t rows_per_run) {
    const DeviceLimits& card = device.context()->limits();
    const auto groups = [&](std::int64_t wanted, int axis) {
      return static_cast<unsigned>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), card.groups[axis]));
    };
    LaunchGrid grid;
    grid.groups = {groups(Geometry(problem).strips, 0), groups(runs_of(problem, rows_per_run), 1),
                   groups(problem.batch, 2)};
    grid.group_size = {32, 1, 1};
    grid.overlaps = card.compute_capability_major >= 9 && rows_per_run <= kLongestOverlapping;
    return grid;
  }

  CudaFunction vectors_;  // for images and outputs whose rows are aligned to kMarchingPixels
  CudaFunction pixels_;   // for all others
  Conv2dMarchingArguments<Pixel> arguments_{};
  bool fits_vectors_ = false;
  bool is_empty_;
};

Verdict check_marching(const Conv2d& problem, const backend::Device&) {
  return mathematics::check_square_3_5_7(problem);
}

Verdict check_separable(const Conv2d& problem, const backend::Device&) {
  const Verdict size = mathematics::check_square_3_5_7(problem);
  return size ? mathematics::check_rank_one(problem) : size;
}

/// Preferred are the longest runs that still give every multiprocessor enough warps: each run reads the filter's rows
/// above and below it again.
std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device) {
  Tunable rows{"rows_per_run", "rows of the output that one warp computes", {}, kRowsPerRun.front()};
  rows.values.assign(kRowsPerRun.begin(), kRowsPerRun.end());
  const std::int64_t units = device.info().compute_units;
  for (const std::int64_t candidate : kRowsPerRun) {
    const std::int64_t pieces = Geometry(problem).strips * runs_of(problem, candidate) * problem.batch;
    if (candidate <= longest_run(problem) && pieces >= kWarpsPerUnit * units) rows.preferred = candidate;
  }
  return {rows};
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Image& image,
                                      const char* variant, const std::vector<double>& weights, const Tuning& tuning) {
  return for_pixel(problem.type, [&](auto pixel) -> std::unique_ptr<backend::Kernel> {
    return std::make_unique<MarchingKernel<decltype(pixel)>>(
        native(device), problem, image,
        sentence("tessera_conv2d_", variant, "_", to_string(problem.type), "_", problem.filter_height), weights,
        tuning.at("rows_per_run"));
  });
}

}  // namespace

backend::Variant<Conv2d> conv2d_marching() {
  return {"marching", "a warp marches down a strip with the sums in registers; filters of 3, 5 and 7", check_marching,
          tunables, [](const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
            return make(problem, device, embedded::conv2d_marching, "marching", problem.filter, tuning);
          }};
}

backend::Variant<Conv2d> conv2d_separable() {
  return {.name = "separable",
          .summary = "the march for filters that are a column times a row",
          .check = check_separable,
          .tunables = tunables,
          .make =
              [](const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
                const auto factors = *mathematics::rank_one_factors(problem);
                std::vector<double> weights = factors.column;
                weights.insert(weights.end(), factors.row.begin(), factors.row.end());
                return make(problem, device, embedded::conv2d_separable, "separable", weights, tuning);
              },
          .error_factor_of = [](const Conv2d& problem,
                                const backend::Device&) { return mathematics::separable_error_factor(problem); }};
}

}  // namespace tessera::cuda
