// The variant "separable": a filter of rank 1 is a column times a row (backend/conv2d_filter.h finds them, exactly), so
// each row of the image is convolved with the row once, and the results with the column: height + width products for a
// pixel in place of height * width.
//
//     image row, zeros around it   ->  * row  ->  row sums, kept for the next `height` output rows  ->  * column  ->
//     output
//
// Both passes are those of "marching" (conv2d_marching_tile.h) with a filter of one row, then of one column. The
// row sums of a strip stay in the first-level cache. For integers both orders agree bit for bit, because arithmetic
// modulo 2^32 is a ring. For float a product meets height + width roundings, no more than the height * width of the
// direct sum for filters of 2 x 2 and more.
#include "backend/conv2d_filter.h"
#include "backend/sentence.h"
#include "ops/conv2d/conv2d_source_rows.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// `Rows` and `along`: the image's rows, and the filter's row as their march takes it.
template <class Rows, class Source, class RowSum, class Sum, class Output, class Pixel>
void convolve_strip(const Conv2dImages<Pixel>& images, MarchingRows<Source, RowSum> along,
                    MarchingRows<Sum, Output> down, const Strip& strip, ScratchPool& scratch) {
  const Conv2d& p = images.problem;
  const std::int64_t step = marching_rows();
  const std::int64_t above = p.filter_height - 1;
  const std::int64_t source_columns = strip.columns + p.filter_width - 1;
  const std::int64_t source_size = scratch_row(source_columns);
  const std::int64_t sums_size = scratch_row(strip.columns);
  const std::size_t source_bytes = Rows::bytes(step, source_size);
  const ScratchPool::Loan loan(scratch,
                               source_bytes + sizeof(Sum) * static_cast<std::size_t>((above + step) * sums_size));
  Rows sources(loan.data(), step, source_size);
  RowRing<Sum> sums(reinterpret_cast<Sum*>(loan.data() + source_bytes), above + step, sums_size);

  RowSum* row_sums[kMarchingRows];
  along.targets = row_sums;
  along.columns = strip.columns;
  // Rows [first, first + count) of the strip's sources become row sums, from `place` on.
  const auto sum_rows = [&](std::int64_t place, std::int64_t first, std::int64_t count) {
    for (std::int64_t done = 0; done < count; done += along.rows) {
      along.rows = std::min(step, count - done);
      for (std::int64_t i = 0; i < along.rows; ++i) {
        sources.take(images, strip, i, strip.row + first + done + i - p.anchor_y, strip.column - p.anchor_x,
                     source_columns);
        row_sums[i] = reinterpret_cast<RowSum*>(sums.rows()[place + done + i]);
      }
      sources.give(along);
      march(along);
      sources.advance(step);
    }
  };
  sum_rows(0, 0, above);

  Output* targets[kMarchingRows];
  const unsigned char* upcoming[kMarchingRows];
  down.targets = targets;
  down.columns = strip.columns;
  down.upcoming = upcoming;
  down.pixel_bytes = sizeof(Pixel);
  for (std::int64_t first = 0; first < strip.rows; first += step) {
    down.rows = std::min(step, strip.rows - first);
    sum_rows(above, first + above, down.rows);
    for (std::int64_t i = 0; i < down.rows; ++i) {
      const std::int64_t output_row = strip.image * images.output_height + strip.row + first + i;
      targets[i] = reinterpret_cast<Output*>(images.row_of(output_row) + strip.column);
    }
    down.upcoming_rows = upcoming_rows(images, strip, first + above + step, step, upcoming);
    down.sources = sums.rows();
    march(down);
    sums.advance(down.rows);
  }
}

/// `row`: the filter's row as `Rows` takes it, `steps` weights.
template <class Rows, class RowSum, class Source, class Sum, class Output, class Pixel>
void convolve_strips(const Conv2dImages<Pixel>& images, const std::vector<Source>& row, const std::vector<Sum>& column,
                     Executor& executor) {
  MarchingRows<Source, RowSum> along;
  along.weights = row.data();
  along.filter_height = 1;
  along.filter_width = static_cast<std::int64_t>(row.size());
  MarchingRows<Sum, Output> down;
  down.weights = column.data();
  down.filter_height = static_cast<std::int64_t>(column.size());
  down.filter_width = 1;
  down.streams = streams_output(images.problem);
  for_each_strip(images.problem, executor,
                 [&](const Strip& strip) { convolve_strip<Rows>(images, along, down, strip, executor.scratch()); });
}

template <class Sum, class Output, class Pixel>
void convolve_images(const Conv2dImages<Pixel>& images, const backend::FilterFactors& factors, Executor& executor) {
  convolve_strips<NumberRows<Sum>, Sum, Sum, Sum, Output>(images, conv2d_weights<Sum>(factors.row),
                                                          conv2d_weights<Sum>(factors.column), executor);
}

/// The row by pairs, the column of its sums by int32.
template <class Pixel>
void convolve_pairs(const Conv2dImages<Pixel>& images, const backend::FilterFactors& factors, Executor& executor) {
  convolve_strips<PairRows<(sizeof(Pixel) > 2)>, std::int32_t, Pair, std::uint32_t, std::uint32_t>(
      images, pairs_of_weights(factors.row, images.problem.filter_width), conv2d_weights<std::uint32_t>(factors.column),
      executor);
}

backend::Verdict check(const Conv2d& problem, const backend::Device&) {
  if (problem.filter_height < 2 || problem.filter_width < 2) {
    return backend::Verdict::no(backend::sentence("the filter of conv2d is ", problem.filter_height, " x ",
                                                  problem.filter_width, ", which has nothing to separate"));
  }
  return backend::check_rank_one(problem);
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
            const auto found = *backend::rank_one_factors(problem);
            return make_conv2d_kernel(problem, [factors = found, in_pairs = has_fast_pairs() && fits_pairs(found.row),
                                                in_float = backend::is_exact_in_float32(problem)]<class Pixel>(
                                                   Executor& executor, const Conv2dImages<Pixel>& images) {
              if constexpr (std::is_same_v<Pixel, float>) {
                convolve_images<float, float>(images, factors, executor);
              } else if (in_float) {
                convolve_images<float, std::int32_t>(images, factors, executor);
              } else if (in_pairs) {
                convolve_pairs(images, factors, executor);
              } else {
                convolve_images<std::uint32_t, std::uint32_t>(images, factors, executor);
              }
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
