// The list of gemm's cases. Sizes straddle the edges of tiles of 4, 8, 16 and 32; larger tiles have theirs in
// gemm_edge_problems.
#include "conformance/gemm/gemm_problems.h"

#include <array>
#include <limits>
#include <utility>

#include "conformance/gemm/gemm_case.h"
#include "conformance/gemm/gemm_huge.h"

namespace tessera::conformance {

namespace {

struct Shape {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

Gemm gemm_of(DataType type, const Shape& shape) {
  return {.m = shape.m, .n = shape.n, .k = shape.k, .type = type};
}

class CaseList {
 public:
  explicit CaseList(std::vector<std::unique_ptr<Case>>& cases) : cases_(&cases) {}
  void add(GemmSpec spec) { cases_->push_back(make_gemm_case(std::move(spec))); }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
};

/// Sizes alone: 1, primes, one less and one more than a tile in every dimension, long and thin.
void add_shapes(CaseList& list, DataType type) {
  for (const std::int64_t side : {1, 2, 3, 5, 7, 13, 23, 61}) list.add({.problem = gemm_of(type, {side, side, side})});
  for (const std::int64_t tile : {4, 8, 16, 32}) {
    list.add({.problem = gemm_of(type, {tile, tile, tile})});
    list.add({.problem = gemm_of(type, {tile - 1, tile, tile + 1})});
    list.add({.problem = gemm_of(type, {tile, tile + 1, tile - 1})});
    list.add({.problem = gemm_of(type, {tile + 1, tile - 1, tile})});
    list.add({.problem = gemm_of(type, {2 * tile + 1, 3 * tile - 1, 2 * tile + 3})});
  }
  for (const Shape& shape :
       {Shape{4099, 1, 3}, Shape{1, 4099, 3}, Shape{1, 1, 4099}, Shape{3, 2, 4099}, Shape{257, 2, 131},
        Shape{2, 257, 131}, Shape{131, 129, 1}, Shape{1, 37, 41}, Shape{37, 1, 41}, Shape{127, 131, 67}}) {
    list.add({.problem = gemm_of(type, shape)});
  }
}

/// All four transposes, on sizes of which no two are equal.
void add_transposes(CaseList& list, DataType type) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const Shape& shape : {Shape{33, 17, 31}, Shape{16, 32, 8}, Shape{5, 67, 3}, Shape{1, 9, 70}}) {
        Gemm problem = gemm_of(type, shape);
        problem.transpose_a = transpose_a;
        problem.transpose_b = transpose_b;
        list.add({.problem = problem, .every_tuning = shape.m == 33});
      }
    }
  }
}

/// More than one of the largest tiles in each direction, whose edges and rows suit vectors of 16 bytes, with every
/// tuning.
void add_wide_tiles(CaseList& list, DataType type) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      Gemm problem = gemm_of(type, {132, 136, 72});
      problem.transpose_a = transpose_a;
      problem.transpose_b = transpose_b;
      problem.beta = 0.5;
      list.add({.problem = problem, .every_tuning = true});
    }
  }
  // Several of the largest tiles, whole ones and others.
  Gemm large = gemm_of(type, {260, 516, 200});
  large.alpha = -0.5;
  list.add({.problem = large, .every_tuning = true});
  large.accuracy = Accuracy::fast;
  if (type == DataType::float32) list.add({.problem = large, .every_tuning = true});
}

/// Nothing to add up, and nothing to write.
void add_empty(CaseList& list, DataType type) {
  // Of an empty matrix, so that it takes no memory; in float64 the largest that is not refused.
  constexpr std::int64_t kHuge = std::int64_t{1} << 45;
  for (const Shape& shape : {Shape{0, 5, 7}, Shape{5, 0, 7}, Shape{5, 7, 0}, Shape{0, 0, 0}, Shape{0, 0, 3},
                             Shape{kHuge, 0, 0}, Shape{0, kHuge, 0}, Shape{0, 0, kHuge}}) {
    for (const double beta : {0.0, 1.0, -0.5}) {
      Gemm problem = gemm_of(type, shape);
      problem.beta = beta;
      list.add({.problem = problem});
    }
  }
}

/// alpha and beta, with NaN in what must not be read. 0.1 is no number of either type: it must be rounded.
void add_factors(CaseList& list, DataType type) {
  for (const double alpha : {0.0, 1.0, -0.5, 0.1}) {
    for (const double beta : {0.0, 1.0, -0.5, 0.1}) {
      Gemm problem = gemm_of(type, {19, 23, 29});
      problem.alpha = alpha;
      problem.beta = beta;
      list.add({.problem = problem});
    }
  }
}

/// Rows longer than the matrix is wide, and operands that do not start at an aligned address.
void add_layouts(CaseList& list, DataType type) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      Gemm problem = gemm_of(type, {18, 21, 35});
      problem.transpose_a = transpose_a;
      problem.transpose_b = transpose_b;
      problem.alpha = 1.5;
      problem.beta = transpose_a == transpose_b ? 0.0 : 0.75;
      problem.lda = (transpose_a ? problem.m : problem.k) + 1;
      problem.ldb = (transpose_b ? problem.k : problem.n) + 13;
      problem.ldc = problem.n + 7;
      list.add({.problem = problem, .misalignment = 1, .every_tuning = true});
    }
  }
  Gemm packed = gemm_of(type, {32, 32, 32});
  list.add({.problem = packed, .misalignment = 1});
  list.add({.problem = packed, .note = "by3", .misalignment = 3});
  Gemm far_rows = gemm_of(type, {9, 5, 6});
  far_rows.lda = 1003;
  far_rows.ldb = 517;
  far_rows.ldc = 2048;
  list.add({.problem = far_rows});
}

/// Few rows or columns of long sums, whose operands lie in every way.
void add_thin(CaseList& list, DataType type) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const Shape& shape : {Shape{67, 6, 259}, Shape{7, 61, 259}, Shape{3, 2, 8209}, Shape{5, 1031, 133},
                                 Shape{1031, 3, 133}, Shape{41, 11, 301}, Shape{12, 41, 301}}) {
        Gemm problem = gemm_of(type, shape);
        problem.transpose_a = transpose_a;
        problem.transpose_b = transpose_b;
        problem.alpha = 0.5;
        problem.beta = transpose_a ? 0.0 : 0.75;
        problem.lda = (transpose_a ? problem.m : problem.k) + 1;
        problem.ldb = (transpose_b ? problem.k : problem.n) + 13;
        problem.ldc = problem.n + 7;
        list.add({.problem = problem, .misalignment = 1});
      }
    }
  }
}

/// Inputs that cancel, that don't, that differ much in size, and that reach the ends of the type.
void add_values(CaseList& list, DataType type) {
  constexpr std::array<std::pair<Values, const char*>, 4> kinds{
      {{Values::positive, "positive"}, {Values::wide, "wide"}, {Values::tiny, "tiny"}, {Values::large, "large"}}};
  for (const auto& [values, note] : kinds) {
    Gemm problem = gemm_of(type, {17, 33, 63});
    if (values != Values::tiny) problem.beta = 0.5;
    list.add({.problem = problem, .values = values, .note = note});
  }
}

/// Infinities and NaN spread exactly as far as IEEE arithmetic carries them.
void add_special(CaseList& list, DataType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::array<std::pair<const char*, std::vector<GemmPlant>>, 7> kinds{{
      {"inf_a", {{'a', 3, 5, infinity}, {'a', 16, 0, -infinity}}},
      {"inf_b", {{'b', 5, 3, -infinity}, {'b', 20, 17, infinity}}},
      {"inf_minus_inf", {{'a', 2, 4, infinity}, {'a', 2, 9, -infinity}, {'a', 7, 7, infinity}}},
      {"inf_times_0", {{'a', 1, 6, infinity}, {'b', 6, 2, 0.0}}},
      {"nan_a", {{'a', 0, 0, nan}, {'a', 11, 20, nan}}},
      {"nan_b", {{'b', 20, 17, nan}}},
      {"nan_c", {{'c', 4, 4, nan}, {'c', 16, 17, infinity}}},
  }};
  for (const auto& [note, plants] : kinds) {
    Gemm problem = gemm_of(type, {17, 18, 21});
    if (plants.front().matrix == 'c') problem.beta = 0.5;
    list.add({.problem = problem, .values = Values::positive, .plants = plants, .note = note});
  }
}

/// Batches: packed and with gaps, one A or B for all, matrices of C side by side, more products than a grid's third
/// axis takes (65535), products that one thread computes and products that all share.
void add_batches(CaseList& list, DataType type) {
  for (const std::int64_t batch : {0, 2, 7, 33}) {
    Gemm problem = gemm_of(type, {17, 19, 23});
    problem.batch = batch;
    list.add({.problem = problem, .every_tuning = batch == 2});
  }
  Gemm shared_a = gemm_of(type, {9, 21, 13});
  shared_a.batch = 5;
  shared_a.stride_a = 0;
  shared_a.transpose_b = true;
  shared_a.beta = 0.5;
  list.add({.problem = shared_a});
  Gemm shared_b = gemm_of(type, {33, 8, 5});
  shared_b.batch = 4;
  shared_b.stride_b = 0;
  shared_b.transpose_a = true;
  shared_b.alpha = -0.5;
  list.add({.problem = shared_b, .misalignment = 1});
  Gemm gaps = gemm_of(type, {6, 10, 37});
  gaps.batch = 3;
  gaps.lda = 39;
  gaps.ldb = 12;
  gaps.ldc = 11;
  gaps.stride_a = 6 * gaps.lda + 5;
  gaps.stride_b = 37 * gaps.ldb + 1;
  gaps.stride_c = 6 * gaps.ldc + 9;
  gaps.beta = 1;
  list.add({.problem = gaps});
  Gemm side_by_side = gemm_of(type, {13, 7, 18});
  side_by_side.batch = 4;
  side_by_side.stride_c = 8;
  side_by_side.ldc = 35;
  list.add({.problem = side_by_side, .every_tuning = true});
  Gemm nothing_to_add = gemm_of(type, {5, 6, 0});
  nothing_to_add.batch = 3;
  nothing_to_add.beta = -0.5;
  list.add({.problem = nothing_to_add});
  Gemm deep = gemm_of(type, {3, 4, 2053});
  deep.batch = 3;
  list.add({.problem = deep});
  Gemm special = gemm_of(type, {8, 9, 10});
  special.batch = 3;
  special.stride_b = 0;
  list.add({.problem = special,
            .values = Values::positive,
            .plants = {{'a', 2, 3, std::numeric_limits<double>::quiet_NaN(), 1},
                       {'a', 7, 9, std::numeric_limits<double>::infinity(), 2}},
            .note = "nan_a1_inf_a2"});
  Gemm shared_by_all_threads = gemm_of(type, {150, 170, 130});
  shared_by_all_threads.batch = 3;
  list.add({.problem = shared_by_all_threads, .purpose = Purpose::slow});
}

void add_slow(CaseList& list, DataType type) {
  for (const Shape& shape : {Shape{509, 769, 1021}, Shape{3, 5, 200003}, Shape{1025, 3, 1027}}) {
    list.add({.problem = gemm_of(type, shape), .purpose = Purpose::slow});
  }
  Gemm all = gemm_of(type, {301, 515, 777});
  all.transpose_a = true;
  all.transpose_b = true;
  all.alpha = -0.5;
  all.beta = 2.5;
  all.ldc = 600;
  list.add({.problem = all, .purpose = Purpose::slow, .values = Values::positive, .misalignment = 1});
}

}  // namespace

ProblemSet gemm_problem_set() {
  ProblemSet set{.operator_name = std::string(Gemm::kName), .cases = {}, .make_case = gemm_case_of};
  CaseList list(set.cases);
  for (const DataType type : {DataType::float32, DataType::float64}) {
    add_shapes(list, type);
    add_transposes(list, type);
    add_wide_tiles(list, type);
    add_empty(list, type);
    add_factors(list, type);
    add_layouts(list, type);
    add_thin(list, type);
    add_values(list, type);
    add_special(list, type);
    add_batches(list, type);
    add_gemm_edges(set.cases, type);
    add_gemm_short_sums(set.cases, type);
    add_gemm_unlike_rows(set.cases, type);
    add_gemm_in_place(set.cases, type);
    add_slow(list, type);
    for (const std::int64_t side : {256, 512, 1024, 2048, 4096}) {
      list.add({.problem = gemm_of(type, {side, side, side}), .purpose = Purpose::benchmark});
    }
  }
  // A GPU is through in 20 ms. Slower devices are spared by the benchmark's time limit.
  list.add({.problem = gemm_of(DataType::float32, {8192, 8192, 8192}), .purpose = Purpose::benchmark});
  // More work-groups than a GPU takes in one direction of a grid (65535) with the largest tile.
  for (const Shape& shape : {Shape{2100011, 1, 2}, Shape{1, 2100011, 2}}) {
    list.add({.problem = gemm_of(DataType::float32, shape), .purpose = Purpose::slow});
  }
  // Packed panels of 70 MB: a bounded workspace holds them in two pieces.
  list.add({.problem = gemm_of(DataType::float32, {13, 1031, 16411}), .purpose = Purpose::slow});
  Gemm many = gemm_of(DataType::float32, {2, 3, 2});
  many.batch = 70001;
  list.add({.problem = many, .purpose = Purpose::slow});
  for (const GemmFar far :
       {GemmFar::a, GemmFar::b, GemmFar::c, GemmFar::wide, GemmFar::batch_a, GemmFar::batch_b, GemmFar::batch_c}) {
    set.cases.push_back(make_huge_gemm_case(far));
  }
  add_gemm_study(set.cases);
  return set;
}

}  // namespace tessera::conformance
