// The variant "separable": a filter of rank 1 is a column times a row (backend/conv2d_filter.h finds them, exactly), so
// each row of the image is convolved with the row once, and the results with the column: height + width products for a
// pixel in place of height * width.
//
//     image row, zeros around it   ->  * row  ->  row sums, kept for the next `height` output rows  ->  * column  ->
//     output
//
// Both passes are those of "marching" (conv2d_marching_kernel.cpp) with a filter of one row, then of one column. The
// row sums of a strip stay in the first-level cache. For integers both orders agree bit for bit, because arithmetic
// modulo 2^32 is a ring. For float a product meets height + width roundings, no more than the height * width of the
// direct sum for filters of 2 x 2 and more.
#include "backend/conv2d_filter.h"
#include "backend/sentence.h"
#include "ops/conv2d/conv2d_strips.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

namespace {

template <class Sum>
struct Factors {
  explicit Factors(const backend::FilterFactors& factors)
      : column(conv2d_weights<Sum>(factors.column)), row(conv2d_weights<Sum>(factors.row)) {}
  std::vector<Sum> column;
  std::vector<Sum> row;
};

template <class Sum, class Output, class Pixel>
void convolve_strip(const Conv2dImages<Pixel>& images, const Factors<Sum>& factors, const Strip& strip, bool streams,
                    ScratchPool& scratch) {
  const Conv2d& p = images.problem;
  const std::int64_t step = marching_rows();
  const std::int64_t above = p.filter_height - 1;
  const std::int64_t source_columns = strip.columns + p.filter_width - 1;
  const std::int64_t source_size = scratch_row(source_columns);
  const std::int64_t sums_size = scratch_row(strip.columns);
  const ScratchPool::Loan loan(scratch,
                               sizeof(Sum) * static_cast<std::size_t>(step * source_size + (above + step) * sums_size));
  auto* const memory = reinterpret_cast<Sum*>(loan.data());
  const RowRing<Sum> sources(memory, step, source_size);
  RowRing<Sum> sums(memory + step * source_size, above + step, sums_size);

  MarchingRows<Sum, Sum> along;
  along.sources = sources.rows();
  along.weights = factors.row.data();
  along.filter_height = 1;
  along.filter_width = p.filter_width;
  along.columns = strip.columns;
  // Rows [first, first + count) of the strip's sources become row sums, from `place` on.
  const auto sum_rows = [&](std::int64_t place, std::int64_t first, std::int64_t count) {
    for (std::int64_t done = 0; done < count; done += along.rows) {
      along.rows = std::min(step, count - done);
      for (std::int64_t i = 0; i < along.rows; ++i) {
        copy_pixels(images, strip, strip.row + first + done + i - p.anchor_y, strip.column - p.anchor_x, source_columns,
                    sources.rows()[i]);
      }
      along.targets = sums.rows() + place + done;
      march(along);
    }
  };
  sum_rows(0, 0, above);

  Output* targets[kMarchingRows];
  const unsigned char* upcoming[kMarchingRows];
  MarchingRows<Sum, Output> down;
  down.targets = targets;
  down.weights = factors.column.data();
  down.filter_height = p.filter_height;
  down.filter_width = 1;
  down.columns = strip.columns;
  down.streams = streams;
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

template <class Sum, class Output, class Pixel>
void convolve_images(const Conv2dImages<Pixel>& images, const backend::FilterFactors& factors, Executor& executor) {
  const Factors<Sum> typed(factors);
  const bool streams = streams_output(images.problem);
  for_each_strip(images.problem, executor, [&](const Strip& strip) {
    convolve_strip<Sum, Output>(images, typed, strip, streams, executor.scratch());
  });
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
            return make_conv2d_kernel(problem, [factors = *backend::rank_one_factors(problem),
                                                in_float = backend::is_exact_in_float32(problem)]<class Pixel>(
                                                   Executor& executor, const Conv2dImages<Pixel>& images) {
              if constexpr (std::is_same_v<Pixel, float>) {
                convolve_images<float, float>(images, factors, executor);
              } else if (in_float) {
                convolve_images<float, std::int32_t>(images, factors, executor);
              } else {
                convolve_images<std::uint32_t, std::uint32_t>(images, factors, executor);
              }
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
