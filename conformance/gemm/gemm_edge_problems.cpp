// Cases of gemm around the edges of large tiles and long sums. Few, because each variant runs each of them on every
// device: a size stands here for the tile that it straddles, and m, n and k straddle different ones at once.
#include "conformance/gemm/gemm_problems.h"

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "conformance/gemm/gemm_case.h"

namespace tessera::conformance {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Cases = std::vector<std::unique_ptr<Case>>;

void add(Cases& cases, GemmSpec spec) {
  cases.push_back(make_gemm_case(std::move(spec)));
}

/// One less, exactly and one more than the tiles that CPUs keep in registers (14 x 32, 14 x 16, 6 x 16, 6 x 8) and
/// those that groups of a GPU compute (48 to 256), with k around steps of 8, 16, 32 and 64.
void add_tiles(Cases& cases, DataType type) {
  struct Tile {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t step;
  };
  for (const Tile& tile :
       {Tile{6, 16, 8}, Tile{14, 32, 16}, Tile{28, 64, 8}, Tile{48, 48, 16}, Tile{64, 64, 32}, Tile{96, 96, 16},
        Tile{64, 128, 8}, Tile{128, 64, 64}, Tile{128, 128, 32}, Tile{256, 128, 16}, Tile{128, 256, 8}}) {
    add(cases, {.problem = gemm_of(type, tile.rows, tile.columns, tile.step)});
    add(cases, {.problem = gemm_of(type, tile.rows - 1, tile.columns + 1, tile.step + 1)});
    add(cases, {.problem = gemm_of(type, tile.rows + 1, tile.columns - 1, 2 * tile.step - 1)});
  }
  // Whole tiles in m and n, so that only k has a remainder.
  for (const std::int64_t k : {1, 2, 7, 9, 15, 17, 31, 33, 63, 65}) add(cases, {.problem = gemm_of(type, 128, 128, k)});
  // More than one tile each way, with every tuning value.
  add(cases, {.problem = gemm_of(type, 129, 131, 67), .every_tuning = true});
  add(cases, {.problem = gemm_of(type, 255, 257, 33)});
}

/// Few elements of C and long sums: what is split along k must add up, with alpha, beta and transposes too.
void add_long_sums(Cases& cases, DataType type) {
  for (const auto& [side, k] : {std::pair{5, 1000}, {16, 1024}, {17, 1023}, {33, 2049}, {64, 1536}, {31, 4097}}) {
    add(cases, {.problem = gemm_of(type, side, side + 2, k)});
  }
  add(cases, {.problem = gemm_of(type, 65, 63, 1999), .values = Values::positive, .note = "positive"});
  for (const bool transpose : {false, true}) {
    Gemm problem = gemm_of(type, 19, 30, 3001);
    problem.transpose_a = transpose;
    problem.transpose_b = !transpose;
    problem.alpha = -0.5;
    problem.beta = transpose ? 1 : 0.1;
    add(cases, {.problem = problem});
  }
  Gemm batch = gemm_of(type, 12, 10, 1030);
  batch.batch = 3;
  batch.beta = 0.5;
  add(cases, {.problem = batch});
}

/// Sums that a CPU cuts into 15 parts of 208 and, one element later, into a part of 1 more; parts of unequal length in
/// rows that are longer; the shortest
/// sums that are two parts, of a batch; and a batch whose parts have no room in a workspace all at once.
void add_parts_of_sums(Cases& cases, DataType type) {
  for (const std::int64_t k : {3120, 3121}) add(cases, {.problem = gemm_of(type, 65, 64, k)});
  for (const bool transpose_b : {false, true}) {
    Gemm problem = gemm_of(type, 67, 35, 1601);
    problem.transpose_a = !transpose_b;
    problem.transpose_b = transpose_b;
    problem.alpha = 0.1;
    problem.beta = transpose_b ? 0 : -0.5;
    problem.lda = (transpose_b ? problem.k : problem.m) + 3;
    problem.ldb = (transpose_b ? problem.k : problem.n) + 1;
    problem.ldc = problem.n + 2;
    add(cases, {.problem = problem, .misalignment = 1});
  }
  Gemm batch = gemm_of(type, 81, 97, 401);
  batch.batch = 3;
  batch.stride_b = 0;
  batch.stride_c = 81 * 97 + 7;
  add(cases, {.problem = batch});
  Gemm large = gemm_of(type, 256, 255, 400);
  large.batch = 10;
  large.beta = 0.5;
  add(cases, {.problem = large, .purpose = Purpose::slow});
}

/// Whole tiles whose rows do not begin where 16 bytes could be read or written at once.
void add_odd_layouts(Cases& cases, DataType type) {
  add(cases, {.problem = gemm_of(type, 128, 128, 32), .misalignment = 1});
  add(cases, {.problem = gemm_of(type, 128, 130, 34), .note = "by2", .misalignment = 2});
  Gemm odd_rows = gemm_of(type, 128, 128, 64);
  odd_rows.lda = 65;
  odd_rows.ldb = 129;
  odd_rows.ldc = 131;
  add(cases, {.problem = odd_rows});
  Gemm transposed = gemm_of(type, 132, 68, 36);
  transposed.transpose_a = transposed.transpose_b = true;
  transposed.lda = 133;
  transposed.ldb = 38;
  transposed.beta = -0.5;
  add(cases, {.problem = transposed, .misalignment = 3});
}

/// Infinities and NaN beside the place where tiles are filled up with zeros: a zero that stands for a missing element
/// must not be multiplied with one of them, which would give a NaN.
void add_special_edges(Cases& cases, DataType type) {
  const std::pair<const char*, std::vector<GemmPlant>> kinds[] = {
      {"inf_a_last", {{'a', 66, 68, kInfinity}, {'a', 0, 68, -kInfinity}}},
      {"inf_b_last", {{'b', 68, 70, kInfinity}, {'b', 68, 0, -kInfinity}}},
      {"nan_a_last_row", {{'a', 66, 0, kNan}}},
      {"nan_b_last_column", {{'b', 0, 70, kNan}}},
      {"nan_c_last", {{'c', 66, 70, kNan}, {'c', 63, 64, kInfinity}}},
  };
  for (const auto& [note, plants] : kinds) {
    Gemm problem = gemm_of(type, 67, 71, 69);
    if (plants.front().matrix == 'c') problem.beta = 0.5;
    add(cases, {.problem = problem, .values = Values::positive, .plants = plants, .note = note});
  }
  // Infinities of both signs far apart along k, so that different groups may sum them: they meet, and give a NaN, only
  // when the groups' parts are added up.
  add(cases, {.problem = gemm_of(type, 9, 7, 3001),
              .values = Values::positive,
              .plants = {{'a', 1, 10, kInfinity}, {'a', 1, 2999, -kInfinity}, {'a', 8, 3000, kInfinity}},
              .note = "inf_minus_inf"});
  add(cases, {.problem = gemm_of(type, 129, 130, 40),
              .values = Values::positive,
              .plants = {{'a', 128, 39, kNan}, {'b', 39, 129, kInfinity}},
              .note = "nan_and_inf"});
}

/// Elements of C whose sums are small, but consist of large parts: alpha times a part overflows, alpha times the sum
/// does not. So alpha must be applied to the whole sum, once.
GemmSpec with_large_parts(Gemm problem) {
  GemmSpec spec{.problem = problem, .values = Values::positive, .note = "large_parts"};
  const double mean = static_cast<double>(problem.k) / 4;  // of the sum without what is planted
  const std::pair<std::int64_t, double> parts[] = {{100, 2 * mean}, {problem.k - 101, -2.75 * mean}};
  for (const auto& [p, value] : parts) {
    for (std::int64_t row = 0; row < problem.m; ++row) spec.plants.push_back({'a', row, p, 1});
    for (std::int64_t column = 0; column < problem.n; ++column) spec.plants.push_back({'b', p, column, value});
  }
  return spec;
}

/// alpha at the ends of the type and beyond. Where k is 0 there is no product, and alpha is not looked at.
void add_extreme_factors(Cases& cases, DataType type) {
  const double largest =
      type == DataType::float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  for (const double alpha : {largest / 4, kInfinity, kNan}) {
    for (const double beta : {0.0, 1.0, -0.5}) {
      for (const auto& [m, n] : {std::pair{5, 7}, {130, 3}, {2, 67}}) {
        Gemm problem = gemm_of(type, m, n, 0);
        problem.alpha = alpha;
        problem.beta = beta;
        problem.batch = m == 5 ? 3 : 1;
        add(cases, {.problem = problem});
      }
    }
  }
  struct ExtremeShape {
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
    bool transpose_b;
  };
  constexpr ExtremeShape kShapes[] = {{19, 70, 401, false}, {67, 5, 3001, false}, {3, 40, 401, true}};
  for (const ExtremeShape& shape : kShapes) {
    const double sum = static_cast<double>(shape.k) / 16;
    for (const double alpha : {largest / (2 * sum), kInfinity, kNan}) {
      for (const double beta : {0.0, 0.5}) {
        Gemm problem = gemm_of(type, shape.m, shape.n, shape.k);
        problem.transpose_b = shape.transpose_b;
        problem.alpha = alpha;
        problem.beta = beta;
        add(cases, with_large_parts(problem));
      }
    }
  }
}

/// What variants that round A and B to shorter numbers must see: with accuracy strict they must refuse, with fast they
/// may round; and elements so much smaller than others of their row that a shorter number loses them, where the large
/// ones meet zeros, so that the small ones are all of the sum. Rows and columns of other sizes each, up to the ends of
/// the type.
void add_shorter_numbers(Cases& cases, DataType type) {
  for (const Accuracy accuracy : {Accuracy::strict, Accuracy::fast}) {
    for (const auto& [m, n, k] : {std::tuple{37, 41, 43}, {129, 67, 130}, {260, 130, 257}, {5, 3, 1}, {64, 64, 1000}}) {
      Gemm problem = gemm_of(type, m, n, k);
      problem.accuracy = accuracy;
      problem.transpose_a = m == 129;
      problem.transpose_b = m == 260;
      problem.beta = m == 37 ? 0.5 : 0;
      add(cases, {.problem = problem});
    }
    Gemm special = gemm_of(type, 67, 71, 69);
    special.accuracy = accuracy;
    add(cases, {.problem = special,
                .values = Values::positive,
                .plants = {{'a', 3, 68, kInfinity}, {'a', 66, 2, kNan}, {'b', 5, 70, -kInfinity}},
                .note = "inf_nan"});
  }
  for (const Accuracy accuracy : {Accuracy::accurate, Accuracy::fast}) {
    for (const double size : {0x1p22, 0x1p50, 0x1p-50}) {
      GemmSpec spec{.problem = gemm_of(type, 70, 66, 200),
                    .values = Values::positive,
                    .note = "far_apart_" + std::string(size == 0x1p22 ? "22"
                                                       : size > 1     ? "50"
                                                                      : "m50")};
      spec.problem.accuracy = accuracy;
      for (std::int64_t i = 0; i < 66; ++i) spec.plants.push_back({'b', 7, i, size > 1 ? 0.0 : 1.0});
      spec.plants.push_back({'a', 3, 7, size});
      spec.plants.push_back({'a', 69, 7, -size});
      for (std::int64_t i = 0; i < 70; ++i) {
        if (i != 3 && i != 69) spec.plants.push_back({'a', i, 150, 0});
      }
      spec.plants.push_back({'b', 150, 11, size});
      add(cases, std::move(spec));
    }
  }
  // So far apart that what brings the large one into the range of a shorter number leaves nothing of the small ones.
  GemmSpec lost{.problem = gemm_of(type, 20, 70, 40), .values = Values::positive, .note = "lost_by_scaling"};
  for (std::int64_t p = 0; p < 40; ++p) {
    lost.plants.push_back({'a', 3, p, std::ldexp(1.0 + 0.01 * static_cast<double>(p), -60)});
  }
  lost.plants.push_back({'a', 3, 7, 0x1p126});
  for (std::int64_t i = 0; i < 70; ++i) lost.plants.push_back({'b', 7, i, 0});
  add(cases, std::move(lost));
  GemmSpec scaled{.problem = gemm_of(type, 40, 50, 90), .note = "sizes_of_rows"};
  const int largest = type == DataType::float32 ? 120 : 1000;
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t p = 0; p < 90; p += 2) {
      scaled.plants.push_back(
          {'a', i, p, std::ldexp(1.0 + 0.001 * static_cast<double>(i + p), static_cast<int>(i - 20) * largest / 20)});
    }
    for (std::int64_t p = 1; p < 90; p += 2) scaled.plants.push_back({'a', i, p, 0});
  }
  for (std::int64_t p = 0; p < 90; ++p)
    scaled.plants.push_back({'b', p, 49, type == DataType::float32 ? 0x1p-140 : 0x1p-1060});
  add(cases, std::move(scaled));
}

/// Few rows or columns where the other side can be read 16 bytes at a time: every power of two up to 16 of them, sums
/// and sides that end within a step and a tile, batches whose matrices begin at such places and batches whose do not.
void add_few(Cases& cases, DataType type) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const auto& [m, n, k] :
           {std::tuple{16, 264, 1044}, {516, 4, 1036}, {1, 388, 2060}, {2, 132, 516}, {140, 8, 260}}) {
        Gemm problem = gemm_of(type, m, n, k);
        problem.transpose_a = transpose_a;
        problem.transpose_b = transpose_b;
        problem.beta = m == 516 ? -0.5 : 0;
        add(cases, {.problem = problem, .every_tuning = k > 1000 && k < 2000});
      }
      Gemm batch = gemm_of(type, 3, 68, 260);
      batch.transpose_a = transpose_a;
      batch.transpose_b = transpose_b;
      batch.batch = 5;
      batch.beta = 0.5;
      batch.stride_b = transpose_a ? 0 : 68 * 260 + 4;
      add(cases, {.problem = batch});
      batch.stride_b = 68 * 260 + 1;
      add(cases, {.problem = batch, .note = "odd_stride"});
      GemmSpec special{.problem = gemm_of(type, 5, 70, 69), .values = Values::positive, .note = "inf_nan_few"};
      special.problem.transpose_a = transpose_a;
      special.problem.transpose_b = transpose_b;
      special.plants = {{'a', 4, 68, kInfinity}, {'b', 68, 69, -kInfinity}, {'b', 0, 1, kNan}, {'a', 0, 3, kNan}};
      add(cases, special);
      std::swap(special.problem.m, special.problem.n);
      special.plants = {{'a', 69, 68, kInfinity}, {'b', 68, 4, -kInfinity}, {'b', 0, 1, kNan}, {'a', 7, 3, kNan}};
      add(cases, special);
    }
  }
}

}  // namespace

void add_gemm_edges(Cases& cases, DataType type) {
  add_tiles(cases, type);
  add_long_sums(cases, type);
  add_parts_of_sums(cases, type);
  add_odd_layouts(cases, type);
  add_special_edges(cases, type);
  add_extreme_factors(cases, type);
  add_shorter_numbers(cases, type);
  add_few(cases, type);
}

}  // namespace tessera::conformance
