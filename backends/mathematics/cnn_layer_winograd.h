// Winograd's algorithm for cnn_layer: which problems it takes, and what its results may be off. One place for all
// backends, so that their forms and bounds agree.
//
// F(my x mx, r x r) computes a tile of my x mx sums from a patch of ny x nx pixels, n = m + r - 1 in each direction,
// with ny * nx products a channel in place of my * mx * r * r:
//
//     tile = Ay^T [ sum over channels of (Gy w Gx^T) .* (By^T d Bx) ] Ax
//
// The matrices: cnn_layer_winograd_matrices.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/ops/cnn_layer.h>

#include "backend/sentence.h"
#include "backend/variant.h"
#include "mathematics/cnn_layer_winograd_matrices.h"

namespace tessera::mathematics {

/// Rows and columns of outputs of a tile.
struct WinogradTileShape {
  std::int64_t outputs_y = 0;
  std::int64_t outputs_x = 0;

  constexpr WinogradTileShape(std::int64_t side) : outputs_y(side), outputs_x(side) {}
  constexpr WinogradTileShape(std::int64_t y, std::int64_t x) : outputs_y(y), outputs_x(x) {}
  friend constexpr bool operator==(const WinogradTileShape&, const WinogradTileShape&) = default;
};

/// Roundings inside of the algorithm over those of the direct sum (see conformance/README.md). Transforms are in the
/// problem's type, that of the weights in double; each of the three is counted with as many roundings as it has terms,
/// in both directions.
///
/// `of_sums`, here and below: roundings of the sums of products over the channels, where these are not added up one by
/// one in the problem's type, which has as many as there are channels.
[[nodiscard]] inline double cnn_layer_winograd_roundings(const CnnLayer& problem, WinogradTileShape tile,
                                                         std::optional<double> of_sums = {}) {
  const auto taps = static_cast<double>(problem.filter_height);
  // Of both directions.
  const double sizes = static_cast<double>(tile.outputs_y + tile.outputs_x) + 2 * (taps - 1);
  const auto channels = static_cast<double>(problem.input_channels);
  const double of_weights = problem.type == DataType::float32 ? 2 : 2 * (taps + 1);
  const double inside = sizes + of_weights + of_sums.value_or(channels) + sizes + 1;
  const double direct = channels * taps * taps + (problem.bias ? 1 : 0);
  // gamma(inside) / gamma(direct) is below inside / direct where inside is smaller; else by far less than 1 % above it.
  return 1.01 * inside / direct;
}

/// WinogradMatrices::amplification() of so many outputs in one direction, for filters of so many taps.
[[nodiscard]] inline double cnn_layer_winograd_amplification(std::int64_t outputs, std::int64_t taps) {
  return taps == 3      ? kWinogradMatrices<4, 3>.amplification()
         : outputs == 6 ? kWinogradMatrices<6, 5>.amplification()
         : outputs == 4 ? kWinogradMatrices<4, 5>.amplification()
                        : kWinogradMatrices<2, 5>.amplification();
}

/// The bound of tiles of this shape for this problem as a multiple of strict's, with each pixel as large as the
/// largest of its channel in the tile's patch: what roundings grow by, times how many more there are of them.
[[nodiscard]] inline double cnn_layer_winograd_factor(const CnnLayer& problem, WinogradTileShape tile,
                                                      std::optional<double> of_sums = {}) {
  return cnn_layer_winograd_amplification(tile.outputs_y, problem.filter_height) *
         cnn_layer_winograd_amplification(tile.outputs_x, problem.filter_height) *
         cnn_layer_winograd_roundings(problem, tile, of_sums);
}

/// Which outputs of a tile are in doubt, so that they are computed by the direct sum, in the words of
/// api/include/tessera/ops/cnn_layer.h: those that pixels outside of their own window could spoil.
///
/// Let S(p) be the sum over the channels of |pixel| at place p of the patch. If no weight of an output channel is
/// larger than w, the errors of an output are at most (growth() in both directions)
///
///     gamma(inside) * w * E,  E = sum over all places p of growth(o, p) * S(p)
///
/// while w times its own window's pixels have the strict bound gamma(direct) * w * W, W = the sum of S over the window.
/// So the output is within `factor` times the latter if
///
///     E <= limit * W,  limit = factor * gamma(direct) / gamma(inside)
///
/// and else it is in doubt, as it is if E or limit * W is not finite. The factor is the one that accuracy admits, or
/// the tile's own where only Accuracy::fast admits that; then E / W is at most K^2, the amplification in both
/// directions, or more. Where all pixels have one size, E / W is 97 for F(4x4,3x3), 71 for F(2x2,5x5), 301 for
/// F(4x4,5x5) and 877 for F(4x6,5x5), and 204, 109, 671 and 2089 in a corner with as much padding as keeps the image's
/// size, while K^2 is 287, 287, 1565 and 5066. So it takes a neighbourhood many times heavier than the window to pass
/// the limit. A window of zeros passes it beside any other pixel that its sum could feel, and zeros everywhere never
/// do.
///
/// E and W are computed in the problem's type, from sums over the channels of that type, all of terms of one sign; the
/// limit is smaller by what that may lose.
[[nodiscard]] inline double cnn_layer_winograd_limit(const CnnLayer& problem, WinogradTileShape tile,
                                                     std::optional<double> of_sums = {}) {
  const double factor = cnn_layer_winograd_factor(problem, tile, of_sums);
  const double admitted = factor > CnnLayer::kAccurateFactor ? factor : CnnLayer::kAccurateFactor;
  const double unit_roundoff = problem.type == DataType::float32 ? 0x1p-24 : 0x1p-53;
  const auto sizes = static_cast<double>(tile.outputs_y + tile.outputs_x + 2 * (problem.filter_height - 1));
  const double lost = 3 * (static_cast<double>(problem.input_channels) + 2 * sizes) * unit_roundoff;
  const double kept = lost < 0.5 ? 1 - lost : 0.5;
  return admitted / cnn_layer_winograd_roundings(problem, tile, of_sums) * kept;
}

/// Whether Winograd's algorithm with tiles of this shape takes the problem.
[[nodiscard]] inline backend::Verdict cnn_layer_winograd_check(const CnnLayer& problem, WinogradTileShape tile,
                                                               std::optional<double> of_sums = {}) {
  const CnnLayer& p = problem;
  const bool is_square = p.filter_height == p.filter_width;
  if (!is_square || (p.filter_height != 5 && !(p.filter_height == 3 && tile == WinogradTileShape(4))))
    return backend::Verdict::no(backend::sentence(
        "the filter of cnn_layer is ", p.filter_height, " x ", p.filter_width, ", but winograd with tiles of ",
        tile.outputs_y, " x ", tile.outputs_x, " takes ", tile == WinogradTileShape(4) ? "3 x 3 and 5 x 5" : "5 x 5"));
  if (p.stride != 1)
    return backend::Verdict::no(backend::sentence("stride of cnn_layer is ", p.stride, ", but winograd takes 1"));
  if (p.accuracy == Accuracy::fast) return backend::Verdict::yes();
  const double factor = cnn_layer_winograd_factor(p, tile, of_sums);
  const double limit = p.accuracy == Accuracy::strict ? 1 : CnnLayer::kAccurateFactor;
  if (factor <= limit) return backend::Verdict::yes();
  return backend::Verdict::no(
      backend::sentence("the error bound of winograd for ", p.input_channels, " input channels is ", factor,
                        " times that of the direct sum, but accuracy ", to_string(p.accuracy), " admits ", limit));
}

/// The sides of the square tiles that take the problem, the larger first. Empty if none does.
[[nodiscard]] inline std::vector<std::int64_t> cnn_layer_winograd_tiles(const CnnLayer& problem,
                                                                        std::optional<double> of_sums = {}) {
  std::vector<std::int64_t> sides;
  for (const std::int64_t outputs : {4, 2}) {
    if (cnn_layer_winograd_check(problem, outputs, of_sums)) sides.push_back(outputs);
  }
  return sides;
}

/// The tiles that take the problem, the larger first, of four rows and six columns too; the larger, the less exact.
[[nodiscard]] inline std::vector<WinogradTileShape> cnn_layer_winograd_shapes(const CnnLayer& problem,
                                                                              std::optional<double> of_sums = {}) {
  std::vector<WinogradTileShape> shapes;
  for (const WinogradTileShape tile : {WinogradTileShape(4, 6), WinogradTileShape(4), WinogradTileShape(2)}) {
    if (cnn_layer_winograd_check(problem, tile, of_sums)) shapes.push_back(tile);
  }
  return shapes;
}

/// Whether Winograd's algorithm takes the problem with any tile; if not, what the most exact one of its filter says.
[[nodiscard]] inline backend::Verdict cnn_layer_winograd_check_any(const CnnLayer& problem,
                                                                   std::optional<double> of_sums = {}) {
  if (!cnn_layer_winograd_tiles(problem, of_sums).empty()) return backend::Verdict::yes();
  return cnn_layer_winograd_check(problem, problem.filter_height == 5 ? 2 : 4, of_sums);
}

}  // namespace tessera::mathematics
