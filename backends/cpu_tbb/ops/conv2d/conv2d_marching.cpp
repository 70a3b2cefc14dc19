// The variant "marching": strips of the output, a few rows at a time from top to bottom (conv2d_strips.h has the
// picture), each step with the sums of all its rows in registers (conv2d_marching_tile.h). Takes any filter.
// Integers go by the fastest way that is exact: pairs of 16 bits where the processor multiplies those and the weights
// fit (conv2d_source_rows.h), else float where no sum leaves its exact range, else int32.
//
// 4096 x 4096 on one thread of an Intel Xeon (Sapphire Rapids), in ms for 3 x 3, 5 x 5 and 7 x 7: float 10, 14 and 20,
// int32 in pairs 12.5, 15 and 18, or 14, 17.5 and 25 where pixels need their upper halves; without pairs 13.5, 23.5 and
// 37. Before rows were asked for in advance and filters written out: float 14, 18 and 25. All of these with a load for
// each column of the filter; columns out of registers came after and are not in them.
#include "backend/conv2d_filter.h"
#include "ops/conv2d/conv2d_source_rows.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// `rows`: weights and their counts.
template <class Rows, class Source, class Output, class Pixel>
void march_strip(const Conv2dImages<Pixel>& images, MarchingRows<Source, Output> rows, const Strip& strip,
                 ScratchPool& scratch) {
  const Conv2d& p = images.problem;
  const std::int64_t step = marching_rows();
  const std::int64_t above = p.filter_height - 1;
  const std::int64_t columns = strip.columns + p.filter_width - 1;
  const std::int64_t row_size = scratch_row(columns);
  const ScratchPool::Loan loan(scratch, Rows::bytes(above + step, row_size));
  Rows sources(loan.data(), above + step, row_size);
  const auto take_row = [&](std::int64_t place, std::int64_t row) {
    sources.take(images, strip, place, strip.row + row - p.anchor_y, strip.column - p.anchor_x, columns);
  };
  for (std::int64_t row = 0; row < above; ++row) take_row(row, row);

  Output* targets[kMarchingRows];
  const unsigned char* upcoming[kMarchingRows];
  rows.columns = strip.columns;
  rows.targets = targets;
  rows.upcoming = upcoming;
  rows.pixel_bytes = sizeof(Pixel);
  for (std::int64_t first = 0; first < strip.rows; first += step) {
    rows.rows = std::min(step, strip.rows - first);
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      take_row(above + i, first + above + i);
      const std::int64_t output_row = strip.image * images.output_height + strip.row + first + i;
      targets[i] = reinterpret_cast<Output*>(images.row_of(output_row) + strip.column);
    }
    rows.upcoming_rows = upcoming_rows(images, strip, first + above + step, step, upcoming);
    sources.give(rows);
    march(rows);
    sources.advance(rows.rows);
  }
}

template <class Sum, class Output, class Pixel>
void march_images(const Conv2dImages<Pixel>& images, Executor& executor) {
  const auto weights = conv2d_weights<Sum>(images.problem.filter);
  MarchingRows<Sum, Output> rows;
  rows.weights = weights.data();
  rows.filter_height = images.problem.filter_height;
  rows.filter_width = images.problem.filter_width;
  rows.streams = streams_output(images.problem);
  for_each_strip(images.problem, executor,
                 [&](const Strip& strip) { march_strip<NumberRows<Sum>>(images, rows, strip, executor.scratch()); });
}

template <class Pixel>
void march_pairs(const Conv2dImages<Pixel>& images, Executor& executor) {
  const std::vector<Pair> weights = pairs_of_weights(images.problem.filter, images.problem.filter_width);
  MarchingRows<Pair, std::int32_t> rows;
  rows.weights = weights.data();
  rows.filter_height = images.problem.filter_height;
  rows.filter_width = (images.problem.filter_width + 1) / 2;
  rows.streams = streams_output(images.problem);
  for_each_strip(images.problem, executor, [&](const Strip& strip) {
    march_strip<PairRows<(sizeof(Pixel) > 2)>>(images, rows, strip, executor.scratch());
  });
}

}  // namespace

backend::Variant<Conv2d> conv2d_marching() {
  return {
      .name = "marching",
      .summary = "vectors of columns, sums of several rows in registers, strips spread over the threads",
      .check = [](const Conv2d&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const Conv2d& problem, backend::Device&, const Tuning&) {
            return make_conv2d_kernel(problem, [in_pairs = has_fast_pairs() && fits_pairs(problem.filter),
                                                in_float = backend::is_exact_in_float32(problem)]<class Pixel>(
                                                   Executor& executor, const Conv2dImages<Pixel>& images) {
              if constexpr (std::is_same_v<Pixel, float>) {
                march_images<float, float>(images, executor);
              } else if (in_pairs) {
                march_pairs(images, executor);
              } else if (in_float) {
                march_images<float, std::int32_t>(images, executor);
              } else {
                march_images<std::uint32_t, std::uint32_t>(images, executor);
              }
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
