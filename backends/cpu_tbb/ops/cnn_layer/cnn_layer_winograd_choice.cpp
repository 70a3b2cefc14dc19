// What Winograd's algorithm saves on a layer, and what it pays for that, counted in products.
#include "ops/cnn_layer/cnn_layer_winograd_choice.h"

#include <cstdint>

#include "cpu_tbb_device.h"
#include "mathematics/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_winograd_plan.h"

namespace tessera::cpu_tbb {

namespace {

/// What a layer costs in products, and in how many blocks it is computed.
struct Balance {
  double direct = 0;  ///< of the direct sum
  double tiles = 0;   ///< of tiles in whole vectors
  double paid = 0;    ///< by the transforms
  std::int64_t blocks = 0;
};
template <class T>
Balance balance(const CnnLayer& p, std::int64_t outputs) {
  const WinogradPlan<T> plan(p, outputs);
  const PatchGrid grid = plan.largest_grid();
  Balance found;
  found.blocks = plan.blocks().count(p);
  const auto blocks = static_cast<double>(found.blocks);
  const auto pairs = static_cast<double>(p.input_channels) * static_cast<double>(p.output_channels);
  const auto sums = static_cast<double>(p.batch * p.convolved_height() * p.convolved_width());
  found.direct = pairs * static_cast<double>(plan.taps() * plan.taps()) * sums;
  found.tiles = pairs * static_cast<double>(plan.matrices() * plan.tiles_step(grid)) * blocks;
  found.paid = static_cast<double>(grid.rows * grid.columns * winograd_transforms(p, outputs)) * blocks;
  return found;
}

/// How many times what its transforms cost, counted in products, a layer must save: they move more than they multiply.
constexpr double kTimesPaid = 4;
/// Products of the direct sum that a thread must have where all go through the stages of few blocks together, to be
/// worth meeting three times.
constexpr double kFewestPerThread = 2e6;

}  // namespace

backend::Verdict cnn_layer_winograd_pays(const CnnLayer& p, const backend::Device& device) {
  const std::int64_t outputs = mathematics::cnn_layer_winograd_tiles(p).front();
  const Balance found = p.type == DataType::float32 ? balance<float>(p, outputs) : balance<double>(p, outputs);
  const double saved = found.direct - found.tiles;
  if (saved <= 0) {
    return backend::Verdict::no(
        backend::sentence("at ", p.convolved_height(), " x ", p.convolved_width(),
                          " winograd's tiles in whole vectors need more products than the sums"));
  }
  if (saved < kTimesPaid * found.paid) {
    return backend::Verdict::no(backend::sentence(
        "with ", p.input_channels, " input and ", p.output_channels, " output channels winograd saves ", saved,
        " products, but pays from ", kTimesPaid, " * ", found.paid, " on, by what its transforms cost"));
  }
  const int threads = native(device).team().threads;
  if (found.blocks >= threads || found.direct >= kFewestPerThread * threads) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("winograd cuts the layer into fewer blocks than there are threads (",
                                                threads, "), and for each thread it is too small to share them"));
}

std::vector<Tunable> cnn_layer_winograd_tunables(const CnnLayer& problem, const backend::Device&) {
  const std::vector<std::int64_t> sides = mathematics::cnn_layer_winograd_tiles(problem);
  return {{"tile", "sums down and across that are computed together", sides, sides.front()}};
}

}  // namespace tessera::cpu_tbb
