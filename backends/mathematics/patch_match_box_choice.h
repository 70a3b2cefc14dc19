// patch_match, box_sums: when the tensor cores' programs are expected to take less time than the other variants. One
// rule for every backend that has them, since their programs are alike. All of it is of problems that are
// is_patch_dense().
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "backend/sentence.h"
#include "mathematics/patch_match_box_dense.h"

namespace tessera::mathematics {

/// What a card runs at a time.
struct PatchBoxCard {
  PerAxis tile;          ///< references of a group
  std::int64_t at_once;  ///< groups
  std::int64_t multiprocessors;
};

/// Is the window a cube of 5, 7, 9 or 11 places a side? Loops are made for these, and these were timed.
[[nodiscard]] inline bool is_patch_window_timed(const PatchMatch& problem) noexcept {
  const PatchGeometry g(problem);
  const std::int64_t side = g.x.window;
  return side == g.y.window && side == g.z.window && side % 2 == 1 && side >= 5 && side <= kPatchDenseWindow;
}

/// Microseconds of box_sums. A wave of groups takes as long whatever part of its references and their candidates is
/// there; of bytes that is 20 us with windows of 5^3 on an H100 and 41 with 11^3, of other types 35 and 76.
[[nodiscard]] inline double patch_box_time(const PatchMatch& problem, const PatchBoxCard& card) noexcept {
  const bool are_bytes = problem.type == DataType::uint8;
  const PatchGeometry g(problem);
  const double window = static_cast<double>(g.x.window) * static_cast<double>(g.y.window * g.z.window);
  const double wave = are_bytes ? 16 + 0.019 * window : 31 + 0.034 * window;
  const double groups = static_cast<double>(patch_dense_tiles(problem, card.tile).product());
  constexpr double kLaunch = 6;
  return kLaunch + std::ceil(groups / static_cast<double>(card.at_once)) * wave;
}

/// Microseconds of packed_key, which has a thread a reference. For the volumes of 0.2 and of 12 million references that
/// were timed on an H100 it is off by a quarter at most.
[[nodiscard]] inline double patch_packed_time(const PatchMatch& problem, const PatchBoxCard& card) noexcept {
  const double references = static_cast<double>(problem.references().product());
  const double pairs = patch_pairs(problem);
  const double share = 132 / static_cast<double>(card.multiprocessors);  // it was fitted to so many
  // What is not below the threshold is not inserted; other types than bytes gain nothing from that.
  if (problem.type != DataType::uint8) return 96 + share * (1.2e-3 * references + 5.0e-6 * pairs);
  const double pair = std::isinf(problem.threshold) ? 4.2e-6 : 2.9e-6;
  return 40 + share * (0.45e-3 * references + pair * pairs);
}

/// Microseconds of min_and_swap, which has a group a reference.
[[nodiscard]] inline double patch_swap_time(const PatchMatch& problem, const PatchBoxCard& card) noexcept {
  const double references = static_cast<double>(problem.references().product());
  const double share = 132 / static_cast<double>(card.multiprocessors);
  return 10 + share * (5.5e-3 * references + 4.1e-5 * patch_pairs(problem));
}

/// Why another variant is to be taken for a problem that is_patch_dense(), or "".
[[nodiscard]] inline std::string why_patch_box_does_not_pay(const PatchMatch& problem, const PatchBoxCard& card) {
  // Where a stack of bytes has up to 4 places, a thread a reference has a program that is faster than its others.
  constexpr std::int64_t kFewPlaces = 4;
  const bool are_few = problem.type == DataType::uint8 && problem.max_patches <= kFewPlaces;
  // The smallest windows that were measured: the gain falls with the window.
  constexpr std::int64_t kLeastWindow = 5;
  const PatchGeometry g(problem);
  if (are_few || std::min({g.x.window, g.y.window, g.z.window}) < kLeastWindow) {
    return "a thread a reference is faster, but with windows of 5 to 11 along each axis, and of bytes for 5 to 16 "
           "patches";
  }
  const auto whole = [](double us) { return static_cast<std::int64_t>(std::min(us, 1e15)); };
  if (is_patch_window_timed(problem)) {
    const double box = patch_box_time(problem, card);
    const double other = std::min(patch_packed_time(problem, card), patch_swap_time(problem, card));
    if (box < other) return "";
    return backend::sentence("patch_match is expected to take ", whole(box), " us so, and ", whole(other),
                             " us by another variant");
  }
  // Of other windows no time is known: many waves of groups, which are full.
  constexpr std::int64_t kLeastWaves = 4;
  const std::int64_t groups = patch_dense_tiles(problem, card.tile).product();
  if (groups < kLeastWaves * card.at_once) {
    return backend::sentence("patch_match takes ", groups, " groups of ", card.tile.product(),
                             " references, too few for ", card.at_once, " at a time");
  }
  constexpr double kLeastPercent = 75;
  const double percent = patch_dense_percent(problem, card.tile);
  if (percent >= kLeastPercent) return "";
  return backend::sentence("of the pairs that groups of patch_match look at, ", whole(percent), " % are there, but ",
                           whole(kLeastPercent), " must be");
}

}  // namespace tessera::mathematics
