// Chooses the configuration with the least time, by a model whose constants were fitted to measurements.
//
// A multiprocessor computes its share of the groups, as many at a time as fit on it. A group takes the time of its
// products, at a rate that depends on how many groups there are to hide each other's waiting, plus a constant for its
// first stages, its sums and C. On an H200, over 64 shapes of 256 to 2048 in each direction and 21 others, what the
// model chose in float32 took 1 % longer than the best configuration that was measured, at worst 11 %. What a launch
// and a group cost in float32, and the rates of 32 x 128, were set later, after 20 to 92 products a tile on an H200, k
// not split and mostly up to 150: off by 6 to 14 % in the root mean square. Of 34 products that were measured with four
// tiles or more, what is chosen takes 2 % longer than the best. 128 x 128 was not among them. The rates of the small
// tiles are older: of 32 x 64 from 70 products on an H100, of 128 x 32 and 48 x 64 from 130 and 29 on an H200, where
// that of two groups of 48 x 64 was put between those of one and of three.
// float64's constants were fitted to 20 products on an H100, aligned and not, with every tile, k not split: off by 7 %
// in the root mean square, and what it chooses takes 1 % longer than the best.
// Those of 32 x 128 and 128 x 32 were fitted to 50 products in float64 on an H200, k up to 420 and not split: off by 9
// and 15 % in the root mean square.
#include "ops/gemm/gemm_register_choice.h"

#include "cuda_embedded.h"
#include "cuda_group_spread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>
#include "mathematics/division.h"

namespace tessera::cuda {
namespace {

/// Multiply-adds of a multiprocessor in a microsecond at best: 128 a clock at 1.98 GHz.
constexpr double kProductsPerMicrosecond = 128 * 1.98e3;

constexpr std::int64_t kMostSplits = 256;
/// Beyond this, partial sums cost more memory and time than a split of k is worth.
constexpr double kLargestWorkspace = 256.0 * 1024 * 1024;

/// At most, from memory that no cache holds: what 2 x 4449 x 1980 by 2 in float64 reaches on an H200 (without a file).
/// With 3681 x 1 x 7774 in float64 it is 3.2e6, and thin, whose groups have more loads on their way, reaches 4e6.
constexpr double kBytesPerMicrosecond = 3.35e6;

/// The least that was measured of a launch, of products that one multiprocessor is soon through with, on an H100.
constexpr double kLeast_us = 3.3;

/// What products whose parts a second kernel adds up take longer than the model says, beside other variants: on an H100
/// 4 x 60 x 1500 to 500 x 7 x 1500 took 6.5 to 8.2 us.
constexpr double kSecondKernel_us = 1;

// What unaligned operands cost was set after 72 products in float32 of 950 x 151 x 1928 and 700 x 908 x 300 on an H100,
// each way to lie and each alignment, with four tiles, and in float64 after 20; what unaligned rows of C cost, after 33
// of products of up to 4000 x 4098.

/// How much longer products take where operands are not both copied 16 bytes at a time: in any case, and more for each
/// that is copied by fewer bytes, the most by single elements along its rows.
constexpr double kUnaligned = 0.09, kUnalignedDouble = 0;
constexpr double kByTwo = 0.06, kByOneAcross = 0.07, kByOneAlong = 0.12;
constexpr double kDoubleAcross = 0.035, kDoubleAlong = 0.125;
/// So many times as much of that with the largest tile in float32.
constexpr double kUnalignedLargest = 2;
/// And how much longer a launch takes for that in float32.
constexpr double kUnalignedStart_us = 0.6;
/// To write a byte of C whose rows begin at no multiple of 16 bytes: through shared memory, and run by run where they
/// begin at any element, at every second one, and in float64.
constexpr double kStagedStore_us = 0.25e-6;
constexpr double kOddStore_us = 1.3e-6;
constexpr double kEvenStore_us = 0.8e-6;
constexpr double kDoubleStore_us = 0.1e-6;
/// Of the second kernel where it writes so.
constexpr double kUnalignedParts_us = 1.5;

constexpr std::array<GemmRegisterSpeed, 8> kFloat32Speeds{{{{0.507, 0.608, 0.608, 0.630}, 2.33, 0.255},
                                                           {{0.487, 0.570, 0.575, 0.618}, 1.96, 0.408},
                                                           {{0.458, 0.514, 0.641, 0.641}, 2.82, 0.554},
                                                           {{0.630, 0.678, 0.711}, 2.75, 0.786},
                                                           {{0.537, 0.580, 0.615, 0.615}, 2.77, 0.619},
                                                           {{0.645, 0.755}, 2.43, 2.04},
                                                           {{0.674, 0.786}, 2.84, 2.51},
                                                           {{0.454, 0.762}, 4.09, 2.57}}};
constexpr GemmRegisterSplitCost kFloat32Split{1.63, 2.12, 0.015, 0.130};
constexpr std::array<GemmRegisterSpeed, 7> kFloat64Speeds{{{{0.549}, 1.59, 1.49},
                                                           {{0.547, 0.829}, 1.96, 1.44},
                                                           {{0.507, 0.916}, 2.11, 2.28},
                                                           {{0.577, 0.726}, 1.40, 1.72},
                                                           {{0.790, 0.922}, 1.00, 3.00},
                                                           {{0.845}, 1.00, 5.32},
                                                           {{0.953}, 1.00, 6.11}}};
constexpr GemmRegisterSplitCost kFloat64Split{1.62, 3.19, 0.015, 0.266};

double ceil_div(double a, double b) {
  return std::ceil(a / b);
}

/// The share by which products take longer for how an operand is copied whose rows and parts lie so far from each
/// other; 0: 16 bytes at a time. As the launch asks, but for the addresses.
double unaligned_share(DataType type, bool along_k, std::initializer_list<std::int64_t> elements) {
  const auto begin_at = [&](std::int64_t width) {
    return std::all_of(elements.begin(), elements.end(), [&](std::int64_t count) { return count % width == 0; });
  };
  if (begin_at(16 / static_cast<std::int64_t>(size_bytes(type)))) return 0;
  if (type == DataType::float64) return along_k ? kDoubleAlong : kDoubleAcross;
  if (begin_at(2)) return kByTwo;
  return along_k ? kByOneAlong : kByOneAcross;
}

/// The same of both operands, and of what the kernel loses that asks how.
double unaligned_share(const Gemm& problem) {
  const double of_a = unaligned_share(problem.type, !problem.transpose_a,
                                      {problem.lda, problem.stride_a, problem.transpose_a ? 0 : problem.k});
  const double of_b = unaligned_share(problem.type, problem.transpose_b,
                                      {problem.ldb, problem.stride_b, problem.transpose_b ? problem.k : 0});
  if (of_a + of_b == 0) return 0;
  return (problem.type == DataType::float64 ? kUnalignedDouble : kUnaligned) + of_a + of_b;
}

/// Does every row of C begin at a multiple of 16 bytes? But for its address.
bool has_aligned_rows(const Gemm& problem) {
  return problem.ldc % (16 / static_cast<std::int64_t>(size_bytes(problem.type))) == 0;
}

/// What writing C takes longer where they do not; `alone`: by the kernel that multiplies, and no cluster.
double unaligned_store_microseconds(const Gemm& problem, bool alone) {
  if (has_aligned_rows(problem)) return 0;
  const double bytes = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                       static_cast<double>(problem.batch) * static_cast<double>(size_bytes(problem.type));
  if (problem.type == DataType::float64) return bytes * kDoubleStore_us;
  if (alone) return bytes * kStagedStore_us;
  return bytes * (problem.ldc % 2 == 0 ? kEvenStore_us : kOddStore_us);
}

double microseconds(const Gemm& problem, const GemmRegisterShape& shape, const GemmRegisterSpeed& speed,
                    double of_products, const GemmRegisterSplitCost& cost, double split, const DeviceLimits& card) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto batch = static_cast<double>(problem.batch);
  const double groups = ceil_div(m, shape.tile_m) * ceil_div(n, shape.tile_n) * split * batch;
  const double steps = ceil_div(ceil_div(static_cast<double>(problem.k), split), shape.depth) * shape.depth;
  const bool is_double = problem.type == DataType::float64;
  const double share = unaligned_share(problem);
  const bool is_aligned = share == 0;
  const bool is_largest = !is_double && shape.elements() == 128 * 128;
  const double longer = 1 + share * (is_largest ? kUnalignedLargest : 1);
  const double alone_us = shape.elements() * steps / kProductsPerMicrosecond * longer * of_products;

  // A multiprocessor's groups: those that run together with as many others as fit, and the rest.
  const double each = ceil_div(groups, card.multiprocessors);
  const double full = std::floor(each / shape.blocks) * shape.blocks;
  const double rest = each - full;
  double time = speed.start_us + (is_aligned || is_double ? 0 : kUnalignedStart_us) + each * speed.group_us +
                full * alone_us / speed.rate[shape.blocks - 1];
  if (rest > 0) time += rest * alone_us / speed.rate[static_cast<std::size_t>(rest) - 1];

  const bool is_cluster = split == 2 && card.compute_capability_major >= 9;
  time += unaligned_store_microseconds(problem, split == 1);
  if (is_cluster) {
    time += cost.cluster_us;
  } else if (split > 1) {
    const double megabytes = (split + 1) * m * n * batch * static_cast<double>(size_bytes(problem.type)) * 1e-6;
    time += cost.parts_us + split * cost.parts_us_of_each + megabytes * cost.parts_us_per_megabyte;
    if (!has_aligned_rows(problem)) time += kUnalignedParts_us;
  }
  return time;
}

/// To read and write all of it once.
double memory_microseconds(const Gemm& problem) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto batch = static_cast<double>(problem.batch);
  const double a = m * static_cast<double>(problem.k) * (problem.stride_a == 0 ? 1 : batch);
  const double b = n * static_cast<double>(problem.k) * (problem.stride_b == 0 ? 1 : batch);
  return (a + b + m * n * batch) * static_cast<double>(size_bytes(problem.type)) / kBytesPerMicrosecond;
}

/// Of a type, in the order of its speeds.
std::span<const GemmRegisterImage> all_images(DataType type) {
  static const std::array<GemmRegisterImage, 8> kFloat32{{
      {gemm_register_shape<float>(32, 32), embedded::gemm_register_float32_32x32},
      {gemm_register_shape<float>(32, 128), embedded::gemm_register_float32_32x128},
      {gemm_register_shape<float>(128, 32), embedded::gemm_register_float32_128x32},
      {gemm_register_shape<float>(32, 64), embedded::gemm_register_float32_32x64},
      {gemm_register_shape<float>(48, 64), embedded::gemm_register_float32_48x64},
      {gemm_register_shape<float>(64, 64), embedded::gemm_register_float32_64x64},
      {gemm_register_shape<float>(64, 128), embedded::gemm_register_float32_64x128},
      {gemm_register_shape<float>(128, 128), embedded::gemm_register_float32_128x128},
  }};
  static const std::array<GemmRegisterImage, 7> kFloat64{{
      {gemm_register_shape<double>(32, 32), embedded::gemm_register_float64_32x32},
      {gemm_register_shape<double>(32, 128), embedded::gemm_register_float64_32x128},
      {gemm_register_shape<double>(128, 32), embedded::gemm_register_float64_128x32},
      {gemm_register_shape<double>(64, 32), embedded::gemm_register_float64_64x32},
      {gemm_register_shape<double>(64, 64), embedded::gemm_register_float64_64x64},
      {gemm_register_shape<double>(128, 64), embedded::gemm_register_float64_128x64},
      {gemm_register_shape<double>(128, 128), embedded::gemm_register_float64_128x128},
  }};
  if (type == DataType::float64) return kFloat64;
  return kFloat32;
}

std::span<const GemmRegisterImage>::iterator find_tile(std::span<const GemmRegisterImage> images, std::int64_t tile_m,
                                                       std::int64_t tile_n) {
  return std::find_if(images.begin(), images.end(), [&](const GemmRegisterImage& image) {
    return image.shape.tile_m == tile_m && image.shape.tile_n == tile_n;
  });
}

/// Ascending.
void insert_once(std::vector<std::int64_t>& values, std::int64_t value) {
  const auto place = std::lower_bound(values.begin(), values.end(), value);
  if (place == values.end() || *place != value) values.insert(place, value);
}

/// Of gemm itself; the images of a card are the first of all.
GemmRegisterModel model_of(DataType type) {
  if (type == DataType::float64) return {kFloat64Speeds, kFloat64Split};
  return {kFloat32Speeds, kFloat32Split};
}

}  // namespace

std::span<const GemmRegisterImage> gemm_register_images(DataType type, const DeviceLimits& card) {
  const std::span<const GemmRegisterImage> all = all_images(type);
  const auto end = std::find_if(all.begin(), all.end(), [&](const GemmRegisterImage& image) {
    // Where k lies along the rows of both operands, which takes the most.
    return shared_bytes(image.shape, false, true, size_bytes(type), card.compute_capability_major >= 8) >
           card.shared_bytes;
  });
  return all.first(static_cast<std::size_t>(end - all.begin()));
}

const GemmRegisterImage& image_of_tile(std::span<const GemmRegisterImage> images, std::int64_t tile_m,
                                       std::int64_t tile_n) {
  return *find_tile(images, tile_m, tile_n);
}

std::vector<std::int64_t> gemm_register_splits(const Gemm& problem) {
  std::vector<std::int64_t> splits{1};
  const std::int64_t products = std::min<std::int64_t>(problem.batch, 65535);
  const double bytes = static_cast<double>(problem.m) * static_cast<double>(problem.n) * static_cast<double>(products) *
                       static_cast<double>(size_bytes(problem.type));
  const auto is_possible = [&](std::int64_t split) {
    return split <= kMostSplits && split <= problem.k && bytes * static_cast<double>(split) <= kLargestWorkspace;
  };
  for (std::int64_t split = 2; is_possible(split); split *= 2) {
    splits.push_back(split);
    if (is_possible(split / 2 * 3)) splits.push_back(split / 2 * 3);
  }
  return splits;
}

GemmRegisterEstimate fastest_gemm_register(const Gemm& problem, const DeviceLimits& card,
                                           std::span<const std::int64_t> splits,
                                           std::span<const GemmRegisterImage> images, const GemmRegisterModel& model) {
  GemmRegisterEstimate best{{}, std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < images.size(); ++i) {
    const GemmRegisterShape& shape = images[i].shape;
    for (const std::int64_t split : splits) {
      const double of_products = model.of_products.empty() ? 1 : model.of_products[i];
      const double us =
          microseconds(problem, shape, model.speeds[i], of_products, model.split, static_cast<double>(split), card);
      if (us < best.us) best = {{shape.tile_m, shape.tile_n, split}, us};
    }
  }
  return best;
}

GemmRegisterChoice choose_gemm_register(const Gemm& problem, const DeviceLimits& card,
                                        std::span<const std::int64_t> splits,
                                        std::span<const GemmRegisterImage> images) {
  return fastest_gemm_register(problem, card, splits, images, model_of(problem.type)).choice;
}

double gemm_register_microseconds(const Gemm& problem, const DeviceLimits& card) {
  const GemmRegisterEstimate best = fastest_gemm_register(
      problem, card, gemm_register_splits(problem), gemm_register_images(problem.type, card), model_of(problem.type));
  return std::max(
      {best.us + (best.choice.split_k > 2 ? kSecondKernel_us : 0), memory_microseconds(problem), kLeast_us});
}

std::vector<Tunable> tile_tunables(std::span<const GemmRegisterImage> images, const GemmRegisterChoice& preferred,
                                   const char* meaning_m, const char* meaning_n) {
  Tunable tile_m{"tile_m", meaning_m, {}, preferred.tile_m};
  Tunable tile_n{"tile_n", meaning_n, {}, preferred.tile_n, "tile_m"};
  for (const GemmRegisterImage& image : images) {
    insert_once(tile_m.values, image.shape.tile_m);
    insert_once(tile_n.values, image.shape.tile_n);
    tile_n.pairs.emplace_back(image.shape.tile_m, image.shape.tile_n);
  }
  return {std::move(tile_m), std::move(tile_n)};
}

std::size_t bytes_that_spread(const GemmRegisterShape& shape, std::int64_t groups, const DeviceLimits& card) {
  return bytes_that_spread(groups, shape.blocks, card);
}

}  // namespace tessera::cuda
