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
/// Warps that a multiprocessor should have at least, to hide the latency of its loads; of long runs with filters of 7,
/// whose warps have more to do, fewer.
constexpr std::int64_t kWarpsPerUnit = 15;
constexpr std::int64_t kWarpsPerUnitOfLong = 10;
constexpr std::int64_t kLongRun = 32;
/// Runs of 8 rows for each multiprocessor from which a warp that marches is ahead of register_tiled: on an H100
/// 1001 x 1003 pixels (7.6) take 8.3, 10.3 and 11.6 us with filters of 3, 5 and 7 in float32, and 6.2, 7.1 and 8.1 in
/// tiles; 1080 x 1920 (15.3) with 3 and 7 take 9.1 and 11.6, and 10.0 and 13.4. Pixels of one or two bytes, which tiles
/// sum in float as well: 1440 x 2560 (27) in uint8 takes 9.9, 17.4 and 26.9 us, and 13.7, 16.7 and 20.8 in tiles. Few
/// runs with filters of 3 are so short that they are ahead again: 500 x 700 (2.9) takes 3.2 us, and 3.4. Rows that are
/// no multiple of a vector are marched pixel by pixel, and the march of int32 and bytes is ahead of tiles late there:
/// benchmarks/results/h100-2026-11-26-conv2d-odd_widths.json.
std::int64_t runs_that_pay(const Conv2d& problem) {
  const bool is_odd = problem.width % kMarchingPixels != 0;
  if (problem.type == DataType::float32) return is_odd ? 18 : 12;
  if (problem.type == DataType::int32 && !is_odd) return 12;
  if (problem.filter_height == 3) return !is_odd ? 12 : problem.type == DataType::int32 ? 24 : 18;
  return problem.filter_height == 5 ? 30 : is_odd ? 70 : 60;
}
constexpr std::int64_t kFewRuns = 4;

/// The same of separable, beside separable_passes: on an H100, in float32, 500 x 700 takes 3.0, 3.5 and 4.8 us, and
/// 3.3, 3.4 and 4.1 in passes; 768 x 1024 (5.8) 5.5, 6.9 and 8.3, and 5.3, 5.4 and 5.6; 2130 x 3304 (51) 22.7, 26.2 and
/// 28.4, and 25.4, 25.7 and 25.8; 4096 x 4096 (124) with 3 and 5 49.7 and 55.7, and 56.6 and 57.6.
std::int64_t separable_runs_that_pay(const Conv2d& problem) {
  return problem.filter_height == 3 ? 20 : 80;
}
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

/// Runs of this many rows, of all strips and images.
std::int64_t pieces_of(const Conv2d& problem, std::int64_t rows_per_run) {
  return Geometry(problem).strips * runs_of(problem, rows_per_run) * problem.batch;
}

/// With few runs what works in shared memory, whose kernels overlap on these cards, is faster; on others that was not
/// measured.
Verdict pays_with(std::int64_t runs_of_unit, const Conv2d& problem, const backend::Device& device) {
  const DeviceLimits& card = native(device).context()->limits();
  const std::int64_t units = card.multiprocessors;
  const std::int64_t runs = pieces_of(problem, kRowsPerRun.front());
  const bool is_short = problem.filter_height == 3 && runs <= kFewRuns * units && problem.width % kMarchingPixels == 0;
  if (card.compute_capability_major < 9 || is_short || runs >= runs_of_unit * units) return Verdict::yes();
  return Verdict::no(sentence("the images have ", runs, " runs of ", kRowsPerRun.front(), " rows, but it gains from ",
                              runs_of_unit * units, " on"));
}
Verdict pays_marching(const Conv2d& problem, const backend::Device& device) {
  return pays_with(runs_that_pay(problem), problem, device);
}
Verdict pays_separable(const Conv2d& problem, const backend::Device& device) {
  return pays_with(separable_runs_that_pay(problem), problem, device);
}

/// Preferred are the longest runs that still give every multiprocessor enough warps: each run reads the filter's rows
/// above and below it again. With filters of 7 runs of 16 rows are never the fastest: on an H100 1080 x 1920 pixels in
/// float32 take 11.6 us in runs of 8, 16.8 of 16 and 15.4 of 32.
std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device) {
  Tunable rows{"rows_per_run", "rows of the output that one warp computes", {}, kRowsPerRun.front()};
  rows.values.assign(kRowsPerRun.begin(), kRowsPerRun.end());
  const std::int64_t units = device.info().compute_units;
  for (const std::int64_t candidate : kRowsPerRun) {
    const bool is_seven = problem.filter_height == 7;
    if (candidate > longest_run(problem) || (is_seven && candidate == 16)) continue;
    const std::int64_t least = is_seven && candidate == kLongRun ? kWarpsPerUnitOfLong : kWarpsPerUnit;
    if (pieces_of(problem, candidate) >= least * units) rows.preferred = candidate;
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
  return {.name = "marching",
          .summary = "a warp marches down a strip with the sums in registers; filters of 3, 5 and 7",
          .check = check_marching,
          .tunables = tunables,
          .make =
              [](const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
                return make(problem, device, embedded::conv2d_marching, "marching", problem.filter, tuning);
              },
          .pays = pays_marching};
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
                                const backend::Device&) { return mathematics::separable_error_factor(problem); },
          .pays = pays_separable};
}

}  // namespace tessera::cuda
