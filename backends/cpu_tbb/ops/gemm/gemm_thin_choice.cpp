// Choice of the variant "thin" by a model of the time, whose constants were fitted to measurements.
#include "ops/gemm/gemm_thin_choice.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_turn.h"
#include "ops/gemm/gemm_thin_streams.h"

namespace tessera::cpu_tbb {

using backend::sentence;
using backend::Verdict;

namespace {

/// The most columns that count as few. 2048 x 8 x 2048 floats ran at 72 GFLOP/s on one core of a Xeon, and at 34 with
/// "register". On two threads of a busy one 12 x 1009 x 1345 with B transposed took 0.55 of the time of "register",
/// with 16 rows the two were even. Where sums run down, fewer do.
constexpr std::int64_t kMostColumns = 12;
constexpr std::int64_t kMostColumnsDown = ThinStreams<float>::kMost;

/// Where sums run along the rows, "thin" and "register" are compared by what they cost on one thread, in nanoseconds.
/// Fitted to 204 problems on two threads of an EPYC with AVX-512, 100 to 6000 rows by 2 to 12 columns, or the other way
/// round, k from 40 to 2500, where what takes less by them has 0.994 of the speed of the faster one in the mean and
/// 0.73 at least; no committed file has them. Both read the large operand once, and "register" takes less for a byte of
/// it that is far away. "thin" multiplies vectors, at the end of each sum adds up the lanes, and takes longer for a sum
/// that does not end with a whole vector; columns that lie apart are copied first.
constexpr double kOfRow = 0.66, kOfByte = 0.0174, kOfFarByte = 0.0353, kOfSum = 1.27, kOfProduct = 0.087;
constexpr double kOfPartOfVector = 0.156, kOfCopy = 170, kOfCopied = 0.314;
/// A product takes so long if the columns do not fit into the first-level cache.
constexpr double kOfDistantProduct = 0.167;
constexpr double kNearBytes = 32 * 1024;
/// What "register" takes for a row, and for an element of it and a vector of columns. If the few columns do not lie
/// beside each other, they are turned into slivers, which costs so much for each element of k and more for each of
/// their elements. With few rows it has a model of its own (gemm_register_turn.h), of which it takes so large a part.
constexpr double kRegisterOfRow = 2.2, kRegisterOfByte = 0.022, kRegisterOfFarByte = 0.028;
constexpr double kRegisterOfVector = 0.124, kRegisterOfSliver = 0.62, kRegisterOfTurned = 0.08, kOfTurnTimes = 0.62;
/// Large operands of more are far away.
constexpr double kFarBytes = 3 << 20;
/// Where the large operand is far away, "thin" is taken up to so many times what "register" is expected to take: the
/// model knows an EPYC, and other processors take up to twice as long for what "register" jumps to. On two threads of a
/// Xeon (Cascade Lake) 7247 x 9 x 850 doubles with B transposed take 4.0 ms and 7.5 with "register" (by the model as 1
/// to 0.98), 3000 x 12 x 2000 doubles 4.9 and 6.8 (0.87), 1500 x 12 x 700 0.78 and 1.13 (0.85), 3000 x 12 x 2000
/// floats with B transposed 2.2 and 3.2 (0.87; without a file). By the model an EPYC loses a sixth at most.
constexpr double kFavourOfFar = 1.2;

/// Where sums run down the stored rows, "register" reads the large operand where it lies as well, and is behind where
/// it jumps from row to row of it, each on a page of its own or far away, and where the large operand is a transposed
/// A, because its tile has as many columns as there are few, of the 32 or 16 that it computes. Measured on two threads
/// of an EPYC with AVX-512, thin's time over register's; no committed file has them:
///
///     1 and 2 rows x 100 to 1000, k 300 to 4000        0.5 to 1.0; products of less than 30,000 up to 1.9
///     1 to 8 rows x 2000 and 4096, sums below          0.3 to 1.0 (8 x 2000 x 300 1.1)       float32
///     3 to 6 rows x 500 and less, k 700 to 1700        0.8 to 1.9
///     3 to 6 rows x 640 to 1024, k 700 and 1100        0.5 to 1.0
///     3 to 5 rows x 1000 and 1700, k 300 to 500        0.7 to 1.1; 6 rows 1.25
///     2 to 6 rows x 600 and 2000                       0.6 to 1.0                            float64
///     50 to 3000 x 2 to 4 columns, A transposed        0.2 to 0.9
///     200 to 3000 x 6, 1000 and 3000 x 8               0.3 to 0.9 (1000 x 8 x 300 1.0); 200 x 8 1.15
///
/// With longer sums "register", which fetches ahead what it jumps to, is not behind: 2 x 2048 to 11008, k 4096 1.02 to
/// 1.06, 3 rows, k 2800 1.02 to 1.07, 4 rows, k 2000 1.01 to 1.25, 8 rows, k 1000 0.9 to 1.3 and 4096 1.0 to 1.8; in
/// float64 2 and 3 rows 0.9 to 1.0, 4 to 8 rows, k 2000 0.95 to 1.4. So many rows times products of a sum it takes:
constexpr std::int64_t kLongSums = 8000, kFewestLongSumsFloat64 = 4;
constexpr std::int64_t kLongRowBytes = 8192;
constexpr std::int64_t kFewestDown = 2, kMostRowsDown = 6;
constexpr double kProductsOfFewest = 30000;
/// "register" jumps through large operands of so many bytes, with rows of so many, for longer than it gains; with the
/// most rows only where sums have so many elements.
constexpr double kDistantBytes = 1.75e6;
constexpr std::int64_t kDistantRowBytes = 2500, kSumOfMostRows = 600, kRowBytesFloat64 = 4800;

/// Where sums run down.
Verdict pays_down(const Gemm& problem, ShortSide side) {
  const std::int64_t few = std::min(problem.m, problem.n), many = std::max(problem.m, problem.n);
  if (side == ShortSide::columns_down && few > 1) {
    const std::int64_t least = few * few * few;
    if (many >= least) return Verdict::yes();
    return Verdict::no(
        sentence("gemm's m is ", many, ", but with ", few, " columns and A transposed thin gains from ", least, " on"));
  }
  const std::int64_t fewest_long = problem.type == DataType::float64 ? kFewestLongSumsFloat64 : 2;
  if (few >= fewest_long && problem.k >= kLongSums / few) {
    return Verdict::no(sentence("gemm has ", few, " rows of sums of ", problem.k,
                                " products, which register takes where they lie, from ", kLongSums / few, " on"));
  }
  const std::int64_t size = static_cast<std::int64_t>(size_bytes(problem.type));
  const std::int64_t longest = kLongRowBytes / size;
  if (many >= longest) return Verdict::yes();
  const double elements = static_cast<double>(many) * static_cast<double>(problem.k);
  if (few <= kFewestDown && elements >= kProductsOfFewest) return Verdict::yes();
  if (few <= kMostRowsDown) {
    const bool is_distant = elements * static_cast<double>(size) >= kDistantBytes && many * size >= kDistantRowBytes;
    if (is_distant && (few < kMostRowsDown || problem.k >= kSumOfMostRows)) return Verdict::yes();
    if (problem.type == DataType::float64 && many * size >= kRowBytesFloat64) return Verdict::yes();
  }
  return Verdict::no(sentence("gemm's large operand has rows of ", many, " elements and ", few, " times ", elements,
                              " products: where sums run down them register is as fast, unless they have ", longest,
                              " elements, or are far away, or sums are few"));
}

/// Long sums of so few elements are faster in parts, which threads share: 10 x 8 x 30000 takes split_k 0.52 of thin's
/// time in float32 and 0.55 in float64 on two threads, 16 x 8 x 30000 0.77 and 0.83 (an EPYC; without a file).
bool is_tiny_and_long(const Gemm& problem) {
  constexpr std::int64_t kMostElements = 256, kLongSum = 8192, kFewest = 8;
  // Compared so that no product of sizes is formed that an int64 may not hold.
  return std::min(problem.m, problem.n) >= kFewest && std::max(problem.m, problem.n) <= kMostElements / kFewest &&
         problem.m * problem.n <= kMostElements && problem.k >= kLongSum;
}

/// Nanoseconds of one thread.
struct Times {
  double own = 0;
  double of_register = 0;
  bool is_far = false;
};
Times times_of(const Gemm& problem, ShortSide side) {
  const RegisterTile tile = problem.type == DataType::float32 ? register_tile<float>() : register_tile<double>();
  const bool has_few_columns = side == ShortSide::columns;
  const std::int64_t count = has_few_columns ? problem.n : problem.m;
  const auto few = static_cast<double>(count), many = static_cast<double>(has_few_columns ? problem.m : problem.n);
  const auto k = static_cast<double>(problem.k), size = static_cast<double>(size_bytes(problem.type));
  const auto lanes = static_cast<double>(tile.columns) / 2;
  const bool is_in_order = has_few_columns ? problem.transpose_b : !problem.transpose_a;

  const bool is_near = few * std::min(k * size, static_cast<double>(kThinPieceBytes)) <= kNearBytes;
  const double of_product = (is_near ? kOfProduct : kOfDistantProduct) / lanes;
  const double row_bytes = size * k;
  const bool is_far = many * row_bytes > kFarBytes;
  const double of_part = problem.k % (tile.columns / 2) == 0 ? 0 : kOfPartOfVector;
  Times times;
  times.is_far = is_far;
  times.own = many * (kOfRow + (is_far ? kOfFarByte : kOfByte) * row_bytes + few * (kOfSum + of_part + of_product * k));
  if (!is_in_order) times.own += kOfCopy + kOfCopied * few * k;
  const double vectors = std::ceil(few / lanes);
  times.of_register = many * (kRegisterOfRow + (is_far ? kRegisterOfFarByte : kRegisterOfByte) * row_bytes);
  if (has_few_columns) {
    times.of_register += many * kRegisterOfVector * vectors * k;
    if (is_in_order) times.of_register += k * (kRegisterOfSliver + kRegisterOfTurned * few);
  } else {
    const TurnTimes turn = turn_times(problem);
    times.of_register += kOfTurnTimes * std::min(turn.straight, turn.turned);
  }
  return times;
}

}  // namespace

ShortSide short_side(const Gemm& problem) {
  for (const std::int64_t most : {kMostColumnsDown, kMostColumns}) {
    if (problem.n <= most && !problem.transpose_a) return ShortSide::columns;
    if (problem.m <= most && problem.transpose_b) return ShortSide::rows;
    if (std::min(problem.m, problem.n) <= kMostColumnsDown)
      return problem.m <= problem.n ? ShortSide::rows_down : ShortSide::columns_down;
  }
  return ShortSide::none;
}

Verdict thin_check(const Gemm& problem, const backend::Device&) {
  if (short_side(problem) == ShortSide::none)
    return Verdict::no(sentence("gemm's n is ", problem.n, problem.transpose_a ? " with A transposed" : "",
                                " and m is ", problem.m, problem.transpose_b ? " with B transposed" : "",
                                ", but thin needs one of them up to ", kMostColumnsDown, ", or n up to ", kMostColumns,
                                " with A as it is, or m up to ", kMostColumns, " with B transposed"));
  return Verdict::yes();
}

Verdict thin_pays(const Gemm& problem) {
  const ShortSide side = short_side(problem);
  if (is_down(side)) return pays_down(problem, side);
  if (is_tiny_and_long(problem)) {
    return Verdict::no(sentence("gemm's C has ", problem.m, " x ", problem.n, " elements, sums of ", problem.k,
                                " products, which threads share in parts"));
  }
  const Times times = times_of(problem, side);
  if (times.own <= times.of_register * (times.is_far ? kFavourOfFar : 1)) return Verdict::yes();
  return Verdict::no(sentence("it is expected to take ", std::lround(times.own), " ns of one thread, and register ",
                              std::lround(times.of_register), " ns"));
}

Verdict thin_pays(const Gemm& problem, const backend::Device&) {
  return thin_pays(problem);
}

}  // namespace tessera::cpu_tbb
