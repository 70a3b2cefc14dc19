// The variant "separable": a filter of rank 1 is a column times a row (mathematics/conv2d_filter.h finds them,
// exactly), so each row of the image is convolved with the row once, and the results with the column: height + width
// products for a pixel in place of height * width.
//
//     image row, zeros around it  -> * row ->  row sums, kept for the next `height` output rows  -> * column ->  output
//
// Both passes are those of "marching" (conv2d_marching_tile.h) with a filter of one row, then of one column. The
// row sums under a step stay in the second-level cache. For integers both orders agree bit for bit, because arithmetic
// modulo 2^32 is a ring. For float a product meets height + width roundings, no more than the height * width of the
// direct sum for filters of 2 x 2 and more.
#include <algorithm>

#include "backend/sentence.h"
#include "mathematics/conv2d_filter.h"
#include "ops/conv2d/conv2d_marching_strip.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// Convolves one strip. `Rows` is how the image's rows are read; `along` has the filter's row, and `down` its column.
/// Returns how many of the strip's rows were computed: all, unless a pixel was too large for Int32AsFloat.
template <class Rows, class Source, class RowSum, class Sum, class Output, class Pixel>
std::int64_t convolve_strip(const Conv2dImages<Pixel>& images, MarchingRows<Source, RowSum> along,
                            MarchingRows<Sum, Output> down, const Strip& strip, ScratchPool& scratch) {
  const std::int64_t step = marching_rows();
  const std::int64_t above = images.problem.filter_height - 1;
  PartsOfStrip<Rows, Pixel> parts(images, strip, 0, scratch);
  const std::int64_t sums_size = scratch_row(strip.columns);
  const ScratchPool::Loan loan(scratch, sizeof(Sum) * static_cast<std::size_t>((above + step) * sums_size));
  RowRing<Sum> sums(reinterpret_cast<Sum*>(loan.data()), above + step, sums_size);
  // Behind a row's columns nothing is written, but read, and what comes of it thrown away. Left as it was, it might be
  // NaN there, which has no meaning as the integer that a float sum is made.
  std::for_each_n(sums.rows(), above + step, [&](Sum* row) { std::fill(row + strip.columns, row + sums_size, Sum{}); });

  RowSum* row_sums[kMarchingRows];
  along.targets = row_sums;
  // Rows [first, first + count) of the strip's sources become row sums, from `place` on.
  const auto sum_rows = [&](std::int64_t place, std::int64_t first, std::int64_t count) {
    return parts.all_of([&](auto& part) {
      for (std::int64_t done = 0; done < count; done += along.rows) {
        along.rows = std::min(step, count - done);
        for (std::int64_t i = 0; i < along.rows; ++i) {
          part.take(i, first + done + i);
          row_sums[i] = reinterpret_cast<RowSum*>(sums.rows()[place + done + i] + part.strip().column - strip.column);
        }
        part.give(along);
        if (!try_march(along)) return false;
      }
      return true;
    });
  };
  if (!sum_rows(0, 0, above)) return 0;

  TargetRows<Output> targets;
  const unsigned char* upcoming[kMarchingRows];
  down.columns = strip.columns;
  down.upcoming = upcoming;
  down.pixel_bytes = sizeof(Pixel);
  for (std::int64_t first = 0; first < strip.rows; first += step) {
    down.rows = std::min(step, strip.rows - first);
    if (!sum_rows(above, first + above, down.rows)) return first;
    targets.give(images, strip, first, down);
    down.upcoming_rows = upcoming_rows(images, strip, first + above + step, step, upcoming);
    down.sources = sums.rows();
    march(down);
    sums.advance(down.rows);
  }
  return strip.rows;
}

/// The two marches of a separable filter, with weights of their own.
template <class Source, class RowSum, class Sum, class Output>
struct Passes {
  Passes(const Conv2d& problem, std::vector<MarchingWeight<Source>> row, std::vector<Sum> column)
      : row_weights(std::move(row)), column_weights(std::move(column)) {
    along.weights = row_weights.data();
    along.filter_height = 1;
    along.filter_width = static_cast<std::int64_t>(row_weights.size());
    down.weights = column_weights.data();
    down.filter_height = static_cast<std::int64_t>(column_weights.size());
    down.filter_width = 1;
    down.streams = streams_output(problem);
  }
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

  std::vector<MarchingWeight<Source>> row_weights;
  std::vector<Sum> column_weights;
  MarchingRows<Source, RowSum> along;
  MarchingRows<Sum, Output> down;
};
using PairPasses = Passes<Int16Pair, std::int32_t, std::uint32_t, std::uint32_t>;
using IntegerPasses = Passes<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

template <class Rows, class Passes, class Pixel>
std::int64_t convolve(const Conv2dImages<Pixel>& images, const Passes& passes, const Strip& strip,
                      ScratchPool& scratch) {
  return convolve_strip<Rows>(images, passes.along, passes.down, strip, scratch);
}

template <class Number, class Output, class Pixel>
void convolve_numbers(const Conv2dImages<Pixel>& images, const mathematics::FilterFactors& factors,
                      Executor& executor) {
  const Passes<Number, Number, Number, Output> passes(images.problem, conv2d_weights<Number>(factors.row),
                                                      conv2d_weights<Number>(factors.column));
  for_each_strip(images.problem, kAlike<Number, Pixel> ? StripRows::in_image : StripRows::copied, executor,
                 [&](const Strip& strip) { convolve<NumberRows<Number>>(images, passes, strip, executor.scratch()); });
}

/// The row by pairs, the column of its sums by int32.
PairPasses pair_passes(const Conv2d& problem, const mathematics::FilterFactors& factors) {
  return {problem, pairs_of_weights(factors.row, problem.filter_width), conv2d_weights<std::uint32_t>(factors.column)};
}

template <class Pixel>
void convolve_pairs(const Conv2dImages<Pixel>& images, const mathematics::FilterFactors& factors, Executor& executor) {
  const PairPasses passes = pair_passes(images.problem, factors);
  for_each_strip(images.problem, StripRows::copied, executor, [&](const Strip& strip) {
    convolve<PairRows<(sizeof(Pixel) > 2)>>(images, passes, strip, executor.scratch());
  });
}

/// As float where pixels are small enough, else as the next best: in pairs, or as int32.
void convolve_as_float_while_exact(const Conv2dImages<std::int32_t>& images, const mathematics::FilterFactors& factors,
                                   bool in_pairs, Executor& executor) {
  const Conv2d& problem = images.problem;
  Passes<Int32AsFloat, float, float, std::int32_t> passes(problem, conv2d_weights<float>(factors.row),
                                                          conv2d_weights<float>(factors.column));
  passes.along.largest = largest_as_float(problem);
  const IntegerPasses integers(problem, conv2d_weights<std::uint32_t>(factors.row),
                               conv2d_weights<std::uint32_t>(factors.column));
  const PairPasses pairs = pair_passes(problem, factors);
  for_each_strip(problem, StripRows::in_image, executor, [&](const Strip& strip) {
    ScratchPool& scratch = executor.scratch();
    const std::int64_t done = begins_exact_as_float(images, strip, passes.along.largest)
                                  ? convolve<NumberRows<Int32AsFloat>>(images, passes, strip, scratch)
                                  : 0;
    if (done == strip.rows) return;
    const Strip rest = strip.below(done);
    if (!in_pairs) {
      convolve<NumberRows<std::uint32_t>>(images, integers, rest, scratch);
      return;
    }
    for_each_copied(rest, [&](const Strip& piece) { convolve<PairRows<true>>(images, pairs, piece, scratch); });
  });
}

void convolve_image(const Conv2dImages<float>& images, const mathematics::FilterFactors& factors, bool /*in_pairs*/,
                    Executor& executor) {
  convolve_numbers<float, float>(images, factors, executor);
}
/// Integers of any size.
template <class Pixel>
void convolve_image(const Conv2dImages<Pixel>& images, const mathematics::FilterFactors& factors, bool in_pairs,
                    Executor& executor) {
  if constexpr (std::is_same_v<Pixel, std::int32_t>) {
    if (tries_as_float(images.problem)) return convolve_as_float_while_exact(images, factors, in_pairs, executor);
  } else {
    if (mathematics::is_exact_in_float32(images.problem)) {
      return convolve_numbers<float, std::int32_t>(images, factors, executor);
    }
  }
  if (in_pairs) return convolve_pairs(images, factors, executor);
  convolve_numbers<std::uint32_t, std::uint32_t>(images, factors, executor);
}

backend::Verdict check(const Conv2d& problem, const backend::Device&) {
  if (problem.filter_height < 2 || problem.filter_width < 2) {
    return backend::Verdict::no(backend::sentence("the filter of conv2d is ", problem.filter_height, " x ",
                                                  problem.filter_width, ", which has nothing to separate"));
  }
  return mathematics::check_rank_one(problem);
}

/// Writing down the sums of the rows pays for filters of some size only. float, 4096 x 4096, one core of a Xeon with
/// AVX-512: 3 x 3 takes 8.4 ms, and 7.0 ms by "marching"; with 5 x 5 they are even.
backend::Verdict pays(const Conv2d& problem, const backend::Device&) {
  constexpr std::int64_t kFewestWeights = 15;
  const std::int64_t weights = problem.filter_height * problem.filter_width;
  if (weights >= kFewestWeights) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("the filter of conv2d has ", weights,
                                                " weights, but writing down the sums of its rows pays from ",
                                                kFewestWeights, " on"));
}

}  // namespace

backend::Variant<Conv2d> conv2d_separable() {
  return {
      .name = "separable",
      .summary = "filters of rank 1: along the rows, then down the columns, in strips spread over the threads",
      .check = check,
      .tunables = nullptr,
      .make =
          [](const Conv2d& problem, backend::Device&, const Tuning&) {
            const auto found = *mathematics::rank_one_factors(problem);
            return make_conv2d_kernel(problem, [factors = found, in_pairs = has_fast_pairs() && fits_pairs(found.row)](
                                                   Executor& executor, const auto& images) {
              convolve_image(images, factors, in_pairs, executor);
            });
          },
      .error_factor_of = [](const Conv2d& problem,
                            const backend::Device&) { return mathematics::separable_error_factor(problem); },
      .pays = pays,
  };
}

}  // namespace tessera::cpu_tbb
