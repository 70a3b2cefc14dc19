// The variants "register_tiled" and "separable_passes", which take filters of every size: which problems they take, and
// how the output is cut into tiles and runs.
#include <algorithm>
#include <array>
#include <utility>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
#include "cuda_group_spread.h"
#include "cuda_table.h"
#include "mathematics/conv2d_tiles.h"
#include "ops/conv2d/conv2d_operands.h"
#include "ops/conv2d/conv2d_tile_arguments.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::ceil_div;
using Passes = mathematics::Conv2dPasses;
using Tile = mathematics::Conv2dRegisterTile;

/// Columns of a strip of separable_passes.
constexpr std::int64_t kStrip = 128;
/// Groups of separable_passes whose registers a multiprocessor holds, and of register_tiled with 8, 16 and 32 rows.
constexpr std::uint64_t kMostAtOnce = 5;
constexpr std::array<std::int64_t, 3> kMostTilesAtOnce{7, 5, 4};

/// Integers are summed in float where that is exact: cards multiply floats at twice the rate.
bool is_in_float(const Conv2d& problem) {
  if (problem.type == DataType::float32) return true;
  return problem.type != DataType::int32 && mathematics::is_exact_in_float32(problem);
}

/// A group's share of the output, and the function that computes it.
struct Share {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t threads;
  std::int64_t shared_bytes;
  std::int64_t at_once;  ///< groups whose registers a multiprocessor holds
  std::string function;
};

class TileKernel final : public backend::Kernel {
 public:
  /// `weights`: in segments.
  TileKernel(CudaDevice& device, const Conv2d& problem, const Image& image, const Share& share,
             const std::vector<double>& weights)
      : kernel_(device.context(), image, share.function, grid_for(device, problem, share)),
        is_empty_(is_empty(problem)),
        weights_(is_in_float(problem) ? table<float>(device, weights) : table<std::uint32_t>(device, weights)) {
    const Context& context = *device.context();
    check(context.api().cuFuncSetAttribute(device.context()->function(image, share.function),
                                           CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           static_cast<int>(context.limits().shared_bytes)),
          "allowing a kernel all of the shared memory");
    arguments_.weights = weights_.begin<std::uint32_t>();
    arguments_.batch = problem.batch;
    arguments_.height = problem.height;
    arguments_.width = problem.width;
    arguments_.output_height = problem.output_height();
    arguments_.output_width = problem.output_width();
    arguments_.blocks_down = ceil_div(problem.output_height(), share.rows);
    arguments_.rows = static_cast<int>(share.rows);
    arguments_.filter_height = static_cast<int>(problem.filter_height);
    arguments_.filter_width = static_cast<int>(problem.filter_width);
    arguments_.anchor_y = static_cast<int>(problem.anchor_y);
    arguments_.anchor_x = static_cast<int>(problem.anchor_x);
    arguments_.pixel_bytes = static_cast<int>(size_bytes(problem.type));
  }

  [[nodiscard]] std::size_t held_bytes() const override { return weights_.size_bytes(); }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& /*workspace*/) override {
    if (is_empty_) return;
    Conv2dTileArguments arguments = arguments_;  // a kernel may be launched on several queues at once
    arguments.image = pointer_to<const std::byte>(operands[0]);
    arguments.output = pointer_to<std::byte>(operands[1]);
    kernel_.enqueue(queue, arguments);
  }

 private:
  /// A group for each share; the kernels loop where rows or images are more than the card allows.
  static LaunchGrid grid_for(const CudaDevice& device, const Conv2d& problem, const Share& share) {
    const DeviceLimits& card = device.context()->limits();
    const auto groups = [&](std::int64_t wanted, int axis) {
      return static_cast<unsigned>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), card.groups[axis]));
    };
    LaunchGrid grid;
    grid.groups = {groups(ceil_div(problem.output_width(), share.columns), 0),
                   groups(ceil_div(problem.output_height(), share.rows), 1), groups(problem.batch, 2)};
    grid.group_size = {static_cast<unsigned>(share.threads), 1, 1};
    const std::int64_t all = std::int64_t{grid.groups[0]} * grid.groups[1] * grid.groups[2];
    grid.dynamic_shared_bytes = static_cast<unsigned>(std::max<std::uint64_t>(
        static_cast<std::uint64_t>(share.shared_bytes), bytes_that_spread(all, share.at_once, card)));
    grid.overlaps = card.compute_capability_major >= 9;
    return grid;
  }

  template <class Sum>
  static CudaTable table(CudaDevice& device, const std::vector<double>& weights) {
    std::vector<Sum> numbers;
    for (const double weight : weights) numbers.push_back(mathematics::conv2d_weight<Sum>(weight));
    return CudaTable(device, numbers);
  }

  CudaFunction kernel_;
  Conv2dTileArguments arguments_{};
  bool is_empty_;
  CudaTable weights_;
};

Verdict check_shared(const Conv2d& problem, const backend::Device& device, std::int64_t bytes) {
  const std::uint64_t limit = native(device).context()->limits().shared_bytes;
  if (static_cast<std::uint64_t>(bytes) <= limit) return Verdict::yes();
  return Verdict::no(sentence("conv2d with a filter of ", problem.filter_height, " x ", problem.filter_width, " takes ",
                              bytes, " bytes of shared memory in tiles, but a group has ", limit, " at most"));
}

Verdict check_tiles(const Conv2d& problem, const backend::Device& device) {
  const Verdict fits = check_shared(problem, device, Tile::bytes(problem, Tile::kRows.back()));
  return fits ? check_columns(problem, device, Tile::kColumns) : fits;
}

/// About how long tiles of Tile::kRows[i] take, in microseconds of an H100: a multiprocessor passes the rows of all its
/// groups through shared memory and multiplies, a product of fewer rows a thread the dearer, because more is loaded for
/// it, and waits for its first. Set after 40 measurements there of 300 x 301 to 2001 x 3001 pixels with filters of 3 to
/// 13.
double tile_microseconds(const Conv2d& problem, std::size_t i, std::int64_t units) {
  constexpr double kLaunch_us = 1.9, kFirst_us = 0.4, kRow_us = 0.058;
  constexpr double kFirstOf32_us = 1.2, kFirstProductOf32_us = 0.018;
  constexpr std::array<double, 3> kProduct_us{0.00118, 0.00093, 0.00048};
  constexpr std::array<double, 3> kWholeProduct_us{0.00118, 0.0012, 0.00103};
  const auto taps = static_cast<double>(problem.filter_height * problem.filter_width);
  const auto rows = static_cast<double>(Tile::kRows[i]);
  const std::int64_t groups = ceil_div(problem.output_width(), Tile::kColumns) *
                              ceil_div(problem.output_height(), Tile::kRows[i]) * problem.batch;
  const auto each = static_cast<double>(ceil_div(groups, units));
  const double product_us = (problem.type == DataType::int32 ? kWholeProduct_us : kProduct_us)[i];
  const double first_us = Tile::kRows[i] == 32 ? kFirstOf32_us + kFirstProductOf32_us * taps : kFirst_us;
  return kLaunch_us + first_us + each * rows * (kRow_us + taps * product_us);
}

/// The rows of a tile that take the least time, more of them where that is nearly even; where kernels overlap.
std::int64_t preferred_rows(const Conv2d& problem, const DeviceLimits& card) {
  constexpr double kEven = 0.985;
  const std::int64_t units = card.multiprocessors;
  if (card.compute_capability_major < 9) return Tile::preferred(problem, units);
  std::size_t best = Tile::kRows.size() - 1;
  for (std::size_t i = best; i-- > 0;) {
    if (tile_microseconds(problem, i, units) < kEven * tile_microseconds(problem, best, units)) best = i;
  }
  return Tile::kRows[best];
}

std::vector<Tunable> tile_tunables(const Conv2d& problem, const backend::Device& device) {
  Tunable rows{"tile_rows", "rows of the output that one group computes", {}, 0};
  rows.values.assign(Tile::kRows.begin(), Tile::kRows.end());
  rows.preferred = preferred_rows(problem, native(device).context()->limits());
  return {rows};
}

std::unique_ptr<backend::Kernel> make_tiles(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const std::int64_t rows = tuning.at("tile_rows");
  const auto number =
      static_cast<std::size_t>(std::find(Tile::kRows.begin(), Tile::kRows.end(), rows) - Tile::kRows.begin());
  const bool in_float = is_in_float(problem);
  const Share share{rows,
                    Tile::kColumns,
                    Tile::kThreads,
                    Tile::bytes(problem, rows),
                    kMostTilesAtOnce[number],
                    sentence("tessera_conv2d_register_tiled_", in_float ? "float32" : "int32", "_",
                             rows / Tile::kThreadsDown, "_", mathematics::conv2d_tail(problem.filter_width))};
  return std::make_unique<TileKernel>(
      native(device), problem, in_float ? embedded::conv2d_register_tiled : embedded::conv2d_register_tiled_int32,
      share, mathematics::conv2d_in_segments(problem.filter, problem.filter_height, problem.filter_width));
}

Verdict check_passes(const Conv2d& problem, const backend::Device& device) {
  if (const Verdict fits = check_shared(problem, device, Passes::bytes(problem, kStrip)); !fits) return fits;
  const Verdict columns = check_columns(problem, device, kStrip);
  return columns ? mathematics::check_rank_one(problem) : columns;
}

std::vector<Tunable> passes_tunables(const Conv2d& problem, const backend::Device& device) {
  const DeviceLimits& card = native(device).context()->limits();
  const std::uint64_t each = static_cast<std::uint64_t>(Passes::bytes(problem, kStrip)) + kReservedSharedBytes;
  const std::uint64_t at_once = std::clamp<std::uint64_t>(card.multiprocessor_shared_bytes / each, 1, kMostAtOnce);
  Tunable rows{"rows_per_run", "rows of the output that one group computes", {}, 0};
  rows.values.assign(Passes::kRows.begin(), Passes::kRows.end());
  rows.preferred = Passes::preferred(problem, kStrip, static_cast<std::int64_t>(at_once * card.multiprocessors));
  return {rows};
}

std::unique_ptr<backend::Kernel> make_passes(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const Share share{tuning.at("rows_per_run"),
                    kStrip,
                    kStrip,
                    Passes::bytes(problem, kStrip),
                    static_cast<std::int64_t>(kMostAtOnce),
                    sentence("tessera_conv2d_separable_passes_", to_string(problem.type), "_",
                             is_in_float(problem) ? "float32" : "int32", "_",
                             mathematics::conv2d_fetched(kStrip, problem.filter_width))};
  return std::make_unique<TileKernel>(native(device), problem, embedded::conv2d_separable_passes, share,
                                      mathematics::conv2d_passes_weights(*mathematics::rank_one_factors(problem)));
}

}  // namespace

backend::Variant<Conv2d> conv2d_register_tiled() {
  return {
      .name = "register_tiled",
      .summary = "tile and halo in shared memory, up to 8 x 4 sums in each thread's registers",
      .check = check_tiles,
      .tunables = tile_tunables,
      .make = make_tiles,
  };
}

backend::Variant<Conv2d> conv2d_separable_passes() {
  return {
      .name = "separable_passes",
      .summary =
          "along the rows into shared memory and down the columns from there; filters that are a column times a "
          "row",
      .check = check_passes,
      .tunables = passes_tunables,
      .make = make_passes,
      .error_factor_of = [](const Conv2d& problem,
                            const backend::Device&) { return mathematics::separable_error_factor(problem); },
  };
}

}  // namespace tessera::cuda
