// How the variant "implicit_gemm" cuts a layer into chunks: blocks of outputs, groups of output channels, planes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cpu_tbb_device.h"
#include "cpu_tbb_machine.h"
#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_blocks.h"
#include "ops/cnn_layer/cnn_layer_panels.h"
#include "ops/cnn_layer/cnn_layer_planes.h"

namespace tessera::cpu_tbb {

/// The chunks of a problem, and the places of sums and pixels in the memory that one of them works in.
template <class T>
class ImplicitGemmPlan {
 public:
  ImplicitGemmPlan(const CnnLayer& problem, const Team& team)
      : filter_(problem.filter_height * problem.filter_width),
        layout_(problem.output_channels, problem.input_channels * filter_),
        cut_{.problem = problem, .blocks = {}} {
    choose(team);
  }

  /// The layer as it is cut, which may have other rows than the one that was asked for.
  [[nodiscard]] const CnnLayer& problem() const noexcept { return cut_.problem; }
  [[nodiscard]] const PanelLayout<T>& layout() const noexcept { return layout_; }
  [[nodiscard]] const CnnBlocks& blocks() const noexcept { return cut_.blocks; }
  /// Equal parts of the output channels, each computed by chunks of its own. Each part is cut into panels of its own,
  /// because whole panels do not divide evenly: of the 37 panels of 512 channels one of two groups would get 19 panels,
  /// which are 265 channels.
  [[nodiscard]] EqualParts groups() const noexcept { return {cut_.problem.output_channels, cut_.groups}; }
  [[nodiscard]] std::int64_t filter() const noexcept { return filter_; }
  [[nodiscard]] PatchGrid grid(const CnnBlock& block) const noexcept {
    return grid_of(cut_.problem, block, cut_.are_columns_apart);
  }
  /// That of the first block, which is the largest.
  [[nodiscard]] PatchGrid largest_grid() const noexcept { return grid(cut_.blocks.block(cut_.problem, 0)); }
  /// Elements from one channel's sums to the next.
  [[nodiscard]] static std::int64_t sums_step(const PatchGrid& grid) noexcept {
    const std::int64_t lanes = register_tile<T>().columns / 2;
    return mathematics::round_up(grid.count(), lanes);
  }
  [[nodiscard]] std::int64_t channels_of_step() const noexcept {
    return std::min(cut_.problem.input_channels, (layout_.steps().size(0) + filter_ - 2) / filter_ + 1);
  }

 private:
  /// The most bytes of a chunk's sums: half of the second-level cache, so that the pixels and weights of a step stay
  /// there beside them. On a core of a Xeon with 2 MiB the study's layer took 5 % longer with a quarter.
  [[nodiscard]] static std::int64_t most_sums_bytes() { return second_level_cache_bytes() / 2; }
  /// Sums in a row of a chunk, at most: longer rows are cut.
  static constexpr std::int64_t kMostColumns = 1024;
  /// Sums that images side by side have for each channel, at most: larger images fill tiles by themselves.
  static constexpr std::int64_t kMostSumsSideBySide = 1024;

  // A model of the time that a way of cutting the layer takes, fitted to the benchmark's six small layers on 2 and on
  // 16 cores of a Xeon with AVX-512. What it chooses takes at most 1.10 times as long as the best cut that was
  // measured, in the geometric mean.

  /// Up to this many groups of output channels every number of groups is tried. A layer may have too many channels to
  /// try them all; 256 panels are 3584 channels in float32 with AVX-512.
  static constexpr std::int64_t kAllGroups = 256;

  /// What a chunk costs beside its products: for each channel, the time of so many sums, to bring its weights from the
  /// third-level cache; and once for each chunk, the time of so many products.
  static constexpr double kSumsForWeights = 6;
  static constexpr double kProductsForChunk = 100000;
  /// The time that packing takes, in products: for each pixel, and for each row beside its pixels.
  static constexpr double kProductsForPixel = 24;
  static constexpr double kProductsForRow = 1200;
  /// The same where a plane is one copy of the image: for each pixel, and for the zeros of each row.
  static constexpr double kProductsForCopiedPixel = 6;
  static constexpr double kProductsForCopiedRow = 150;

  /// A way of cutting the layer.
  struct Cut {
    CnnLayer problem;
    CnnBlocks blocks;
    bool are_columns_apart = false;
    std::int64_t groups = 1;
  };
  /// Before the first cut.
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  [[nodiscard]] static PatchGrid grid_of(const CnnLayer& p, const CnnBlock& block, bool are_columns_apart) noexcept {
    return {block.sum_rows, block.sum_columns, p.stride,    p.filter_height,
            p.filter_width, are_columns_apart, block.images};
  }

  void choose(const Team& team) {
    const CnnLayer whole = cut_.problem;
    // Without images no chunk is made, and no cut has too many sums, so there would be no end to trying them.
    if (whole.batch == 0) return;
    const std::int64_t panels = layout_.panels().parts;
    const auto blocks_across = mathematics::ceil_div(CnnBlocks::sums(whole, whole.output_width()), kMostColumns);
    const std::int64_t columns = mathematics::ceil_div(whole.output_width(), blocks_across);
    const CnnLayer side_by_side = as_single_rows(whole);
    const std::int64_t image_sums = CnnBlocks::sums(side_by_side, side_by_side.output_height()) *
                                    CnnBlocks::sums(side_by_side, side_by_side.output_width());
    const std::int64_t most_images = std::min(whole.batch, kMostSumsSideBySide / image_sums);
    for (const bool apart : {false, true}) {
      // Every number of groups up to kAllGroups; beyond, steps so small that the size of a group changes little.
      for (std::int64_t groups = 1; groups <= panels; groups += std::max<std::int64_t>(1, groups / kAllGroups)) {
        for (std::int64_t asked = 1; asked <= whole.output_height(); ++asked) {
          const std::int64_t down = mathematics::ceil_div(whole.output_height(), asked);
          const std::int64_t rows = mathematics::ceil_div(whole.output_height(), down);
          if (!consider({whole, {rows, columns, 1}, apart, groups}, team)) break;
        }
        for (std::int64_t asked = 2; asked <= most_images; ++asked) {
          const std::int64_t images = mathematics::ceil_div(whole.batch, mathematics::ceil_div(whole.batch, asked));
          const CnnBlocks blocks{side_by_side.output_height(), side_by_side.output_width(), images};
          if (!consider({side_by_side, blocks, apart, groups}, team)) break;
        }
      }
    }
  }

  /// Takes this cut if it is better than all before. False: its sums are too many, and so are those of larger blocks.
  bool consider(const Cut& cut, const Team& team) {
    const CnnLayer& p = cut.problem;
    const std::int64_t channels = mathematics::ceil_div(p.output_channels, cut.groups);
    const PatchGrid block = grid_of(p, cut.blocks.block(p, 0), cut.are_columns_apart);
    const std::int64_t step = sums_step(block);
    if (best_ < kNone && channels * step * static_cast<std::int64_t>(sizeof(T)) > most_sums_bytes()) return false;
    const double once = kProductsForChunk / static_cast<double>(p.input_channels * filter_);  // in sums
    const auto rounds = static_cast<double>((cut.blocks.count(p) * cut.groups + team.threads - 1) / team.threads);
    const double sums = static_cast<double>(channels) * (static_cast<double>(step) + kSumsForWeights);
    const double time = (rounds + team.waited_for) * (sums + packing(cut, block) + once);
    if (time >= best_) return true;
    best_ = time;
    cut_ = cut;
    return true;
  }

  /// For images side by side: where a filter and a window of the pool are one pixel, rows do not matter, and one that
  /// has all pixels of an image is packed at once.
  [[nodiscard]] static CnnLayer as_single_rows(const CnnLayer& p) noexcept {
    CnnLayer result = p;
    const bool is_of_pixels = p.filter_height == 1 && p.filter_width == 1 && p.stride == 1 && p.padding == 0 &&
                              p.pool_size == 1 && p.pool_step() == 1;
    if (is_of_pixels) result.height = 1, result.width = p.height * p.width;
    return result;
  }

  /// The time that packing one block takes, in sums.
  [[nodiscard]] double packing(const Cut& cut, const PatchGrid& grid) const noexcept {
    const CnnLayer& p = cut.problem;
    const bool is_copied = p.layout == Layout::nchw && grid.are_planes_images(p.width, 1);
    const auto pixels = static_cast<double>(grid.channel_size());
    const auto rows = static_cast<double>(grid.channel_size() / grid.segment());
    const double products = is_copied ? kProductsForCopiedPixel * pixels + kProductsForCopiedRow * rows
                                      : kProductsForPixel * pixels + kProductsForRow * rows;
    return products / static_cast<double>(filter_);
  }

  std::int64_t filter_;
  PanelLayout<T> layout_;
  Cut cut_;
  double best_ = kNone;
};

}  // namespace tessera::cpu_tbb
