// When Winograd's algorithm is faster than the direct sum.
#include "ops/cnn_layer/cnn_layer_winograd_choice.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu_tbb_device.h"
#include "cpu_tbb_machine.h"
#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_winograd_plan.h"

namespace tessera::cpu_tbb {

namespace {

// Times are counted in products: how many a core makes meanwhile in gemm's register tile. Fitted on two cores of an
// EPYC with AVX-512 to 81 layers of 3 x 3 and 5 x 5, 8 to 512 channels, 7 x 7 to 151 x 151 pixels, where what is chosen
// has 0.987 of the speed of the faster one of "winograd" and "implicit_gemm" in the mean and 0.79 at least; no
// committed file has them.

/// What transforms take over what they count (winograd_costs()): they move more than they multiply. With few output
/// channels the way in is nearly all: with 1.9 for it, which fitted layers on a Xeon with AVX-512, 95 -> 5 channels
/// took 2.6 times as long as the direct sum on an EPYC.
constexpr double kTimesInput = 5;
constexpr double kTimesOutput = 4.5;
/// The direct sum's patches are packed and read: for each of their elements, the time of so many output channels.
constexpr double kChannelsForPatch = 7;
/// Bringing a weight from behind the second-level cache. While a weight meets more tiles or sums than these, it is
/// hidden behind them. Transformed weights are 4 times as many for 3 x 3. Machines differ: 256 -> 384 channels at
/// 13 x 13 pixels have 16 tiles for each weight, and took 1.5 times as long as the direct sum on that Xeon, which is 60
/// products a weight. On two cores of an EPYC with AVX-512 two images of 384 -> 256 there take 0.77 of the direct sum,
/// of 256 -> 256 at 14 x 14 0.93 and eight 0.81, of 512 -> 512 at 7 x 7 1.95.
constexpr double kProductsForWeight = 20;

/// What stages cost that threads share, over blocks of their own, because each hands its numbers to the other: on that
/// EPYC one image takes 1.2 to 1.3 times the half of two (384 -> 256 at 13 x 13 670 us, two 1060).
constexpr double kTimesShared = 1.2;

/// What a layer costs by the direct sum and by winograd.
struct Balance {
  double direct = 0;
  double products = 0;    ///< of tiles in whole vectors, or the wait for their weights
  double transforms = 0;  ///< of rows of tiles in whole vectors
  std::int64_t blocks = 0;
};
/// The time of `count` weights that meet so many tiles or sums each.
double time_of_weights(double count, double met, std::size_t element_bytes) {
  const bool stay = count * static_cast<double>(element_bytes) <= static_cast<double>(second_level_cache_bytes());
  return count * (stay ? met : std::max(met, kProductsForWeight));
}
template <class T>
Balance balance(const CnnLayer& p, std::int64_t outputs, int threads) {
  const WinogradPlan<T> plan(p, outputs);
  const PatchGrid grid = plan.largest_grid();
  const WinogradCosts costs = winograd_costs(p, outputs);
  Balance found;
  found.blocks = plan.blocks().count(p);
  // Threads take whole blocks, one after the other, and wait for the last. Fewer blocks they share by stages.
  const std::int64_t taken =
      found.blocks < threads ? found.blocks : mathematics::round_up<std::int64_t>(found.blocks, threads);
  const auto blocks = static_cast<double>(taken);
  const auto inputs = static_cast<double>(p.input_channels), channels = static_cast<double>(p.output_channels);
  const auto sums = static_cast<double>(p.batch * p.convolved_height() * p.convolved_width());
  const auto filters = inputs * static_cast<double>(plan.taps() * plan.taps());
  found.direct = time_of_weights(filters * channels, sums, sizeof(T)) + kChannelsForPatch * filters * sums;
  found.products = time_of_weights(inputs * channels * static_cast<double>(plan.matrices()),
                                   static_cast<double>(plan.tiles_step(grid)), sizeof(T)) *
                   blocks;
  const auto in_rows = static_cast<double>(grid.rows * mathematics::round_up(grid.columns, plan.lanes()));
  found.transforms = in_rows * blocks *
                     (kTimesInput * static_cast<double>(costs.of_input) * inputs +
                      kTimesOutput * static_cast<double>(costs.of_output) * channels);
  if (found.blocks < threads) {
    found.products *= kTimesShared;
    found.transforms *= kTimesShared;
  }
  return found;
}

/// Products of the direct sum that a thread must have where all go through the stages of few blocks together, to be
/// worth meeting three times.
constexpr double kFewestPerThread = 2e6;

}  // namespace

backend::Verdict cnn_layer_winograd_pays(const CnnLayer& p, int threads) {
  const std::int64_t outputs = mathematics::cnn_layer_winograd_tiles(p).front();
  const Balance found =
      p.type == DataType::float32 ? balance<float>(p, outputs, threads) : balance<double>(p, outputs, threads);
  if (found.products + found.transforms >= found.direct) {
    return backend::Verdict::no(backend::sentence(
        "from ", p.input_channels, " to ", p.output_channels, " channels at ", p.convolved_height(), " x ",
        p.convolved_width(), " winograd takes the time of ", found.products, " products for its own and of ",
        found.transforms, " for its transforms, and the direct sum that of ", found.direct));
  }
  if (found.blocks >= threads || found.direct >= kFewestPerThread * threads) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("winograd cuts the layer into fewer blocks than there are threads (",
                                                threads, "), and for each thread it is too small to share them"));
}

backend::Verdict cnn_layer_winograd_pays_on(const CnnLayer& p, const backend::Device& device) {
  return cnn_layer_winograd_pays(p, native(device).team().threads);
}

std::vector<Tunable> cnn_layer_winograd_tunables(const CnnLayer& problem, const backend::Device&) {
  const std::vector<std::int64_t> sides = mathematics::cnn_layer_winograd_tiles(problem);
  return {{"tile", "sums down and across that are computed together", sides, sides.front()}};
}

}  // namespace tessera::cpu_tbb
