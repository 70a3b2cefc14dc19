// The variant "marching": strips of the output, a few rows at a time from top to bottom (conv2d_strips.h has the
// picture), each step with the sums of all its rows in registers (conv2d_marching_kernel.cpp). Takes any filter. Images
// of few bits are convolved in float where that is exact: a multiply-add of float costs a third of one of int32 on
// processors of Intel.
#include "backend/conv2d_filter.h"
#include "ops/conv2d/conv2d_strips.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

namespace {

template <class Sum, class Output, class Pixel>
void march_strip(const Conv2dImages<Pixel>& images, const std::vector<Sum>& weights, const Strip& strip, bool streams,
                 ScratchPool& scratch) {
  const Conv2d& p = images.problem;
  const std::int64_t step = marching_rows();
  const std::int64_t above = p.filter_height - 1;
  const std::int64_t columns = strip.columns + p.filter_width - 1;
  const std::int64_t row_size = scratch_row(columns);
  const ScratchPool::Loan loan(scratch, sizeof(Sum) * static_cast<std::size_t>((above + step) * row_size));
  RowRing<Sum> sources(reinterpret_cast<Sum*>(loan.data()), above + step, row_size);
  const auto copy_row = [&](std::int64_t place, std::int64_t row) {
    copy_pixels(images, strip, strip.row + row - p.anchor_y, strip.column - p.anchor_x, columns, sources.rows()[place]);
  };
  for (std::int64_t row = 0; row < above; ++row) copy_row(row, row);

  Output* targets[kMarchingRows];
  MarchingRows<Sum, Output> rows;
  rows.weights = weights.data();
  rows.filter_height = p.filter_height;
  rows.filter_width = p.filter_width;
  rows.columns = strip.columns;
  rows.streams = streams;
  rows.targets = targets;
  for (std::int64_t first = 0; first < strip.rows; first += step) {
    rows.rows = std::min(step, strip.rows - first);
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      copy_row(above + i, first + above + i);
      const std::int64_t output_row = strip.image * images.output_height + strip.row + first + i;
      targets[i] = reinterpret_cast<Output*>(images.row_of(output_row) + strip.column);
    }
    rows.sources = sources.rows();
    march(rows);
    sources.advance(rows.rows);
  }
}

template <class Sum, class Output, class Pixel>
void march_images(const Conv2dImages<Pixel>& images, Executor& executor) {
  const auto weights = conv2d_weights<Sum>(images.problem.filter);
  const bool streams = streams_output(images.problem);
  for_each_strip(images.problem, executor, [&](const Strip& strip) {
    march_strip<Sum, Output>(images, weights, strip, streams, executor.scratch());
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
            return make_conv2d_kernel(problem, [in_float = backend::is_exact_in_float32(problem)]<class Pixel>(
                                                   Executor& executor, const Conv2dImages<Pixel>& images) {
              if constexpr (std::is_same_v<Pixel, float>) {
                march_images<float, float>(images, executor);
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
