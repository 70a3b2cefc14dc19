// The variant "marching": strips of the output, a few rows at a time from top to bottom (conv2d_strips.h has the
// picture), each step with the sums of all its rows in registers (conv2d_marching_tile.h). Takes any filter.
//
// Integers are computed in the fastest way that is exact, the first of these that is possible:
//
//     int32, small filter    as float (Int32AsFloat), as long as the pixels are so small that no sum leaves the range
//                            in which float is exact. The march watches that, and from rows with a larger pixel on it
//                            goes on in one of the other ways
//     weights of 16 bits     in pairs (Int16Pair, conv2d_source_rows.h), if the processor multiplies these faster
//     uint8, int16           as float, if the pixels' type keeps all sums in that range
//     everything else        as int32
//
// 3 x 3 on 4096 x 4096, one thread of an Intel Xeon with AVX-512: 7 ms in float, 7.9 in int32 as float, 8.6 in int32 of
// any size; OpenCV's filter2D takes 15 in float.
#include "cpu_tbb_device.h"
#include "mathematics/conv2d_filter.h"
#include "ops/conv2d/conv2d_marching_choice.h"
#include "ops/conv2d/conv2d_marching_strip.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// int32 images under larger filters are faster in pairs than as float, because pairs multiply two at a time.
constexpr std::int64_t kMostWeightsAsFloat = 49;
/// int32 images under filters no larger than this are faster as int32 than in pairs, which need a copy of the pixels.
constexpr std::int64_t kMostIntegerWeights = 9;

/// `rows` comes with the weights and their counts filled in. Returns how many of the strip's rows were computed: all,
/// unless a pixel was too large for Int32AsFloat.
template <class Rows, class Source, class Output, class Pixel>
std::int64_t march_strip(const Conv2dImages<Pixel>& images, MarchingRows<Source, Output> rows, const Strip& strip,
                         ScratchPool& scratch) {
  const std::int64_t step = marching_rows();
  const std::int64_t above = images.problem.filter_height - 1;
  PartsOfStrip<Rows, Pixel> parts(images, strip, above, scratch);
  parts.all_of([&](auto& part) {
    for (std::int64_t row = 0; row < above; ++row) part.take(row, row);
    return true;
  });

  TargetRows<Output> targets;
  const unsigned char* upcoming[kMarchingRows];
  rows.upcoming = upcoming;
  rows.pixel_bytes = sizeof(Pixel);
  for (std::int64_t first = 0; first < strip.rows; first += step) {
    rows.rows = std::min(step, strip.rows - first);
    const bool is_done = parts.all_of([&](auto& part) {
      for (std::int64_t i = 0; i < rows.rows; ++i) part.take(above + i, first + above + i);
      rows.upcoming_rows = upcoming_rows(images, part.strip(), first + above + step, step, upcoming);
      targets.give(images, part.strip(), first, rows);
      part.give(rows);
      if (!try_march(rows)) return false;
      part.advance(rows.rows);
      return true;
    });
    if (!is_done) return first;
  }
  return strip.rows;
}

template <class Source, class Output, class Weight, class Pixel>
MarchingRows<Source, Output> rows_with(const Conv2dImages<Pixel>& images, const std::vector<Weight>& weights) {
  MarchingRows<Source, Output> rows;
  rows.weights = weights.data();
  rows.filter_height = images.problem.filter_height;
  rows.filter_width = static_cast<std::int64_t>(weights.size()) / rows.filter_height;
  rows.streams = streams_output(images.problem);
  return rows;
}

template <class Number, class Output, class Pixel>
void march_as(const Conv2dImages<Pixel>& images, Executor& executor) {
  const auto weights = conv2d_weights<Number>(images.problem.filter);
  const auto rows = rows_with<Number, Output>(images, weights);
  for_each_strip(images.problem, kAlike<Number, Pixel> ? StripRows::in_image : StripRows::copied, executor,
                 [&](const Strip& strip) { march_strip<NumberRows<Number>>(images, rows, strip, executor.scratch()); });
}

template <class Pixel>
using ImagePairRows = PairRows<(sizeof(Pixel) > 2)>;

template <class Pixel>
void march_in_pairs(const Conv2dImages<Pixel>& images, Executor& executor) {
  const std::vector<Int16Pair> weights = pairs_of_weights(images.problem.filter, images.problem.filter_width);
  const auto rows = rows_with<Int16Pair, std::int32_t>(images, weights);
  for_each_strip(images.problem, StripRows::copied, executor, [&](const Strip& strip) {
    march_strip<ImagePairRows<Pixel>>(images, rows, strip, executor.scratch());
  });
}

/// As float where pixels are small enough, else in pairs or as int32.
void march_as_float_while_exact(const Conv2dImages<std::int32_t>& images, bool in_pairs, Executor& executor) {
  const Conv2d& problem = images.problem;
  const auto floats = conv2d_weights<float>(problem.filter);
  const auto numbers = conv2d_weights<std::uint32_t>(problem.filter);
  const auto pairs = in_pairs ? pairs_of_weights(problem.filter, problem.filter_width) : std::vector<Int16Pair>();
  auto rows = rows_with<Int32AsFloat, std::int32_t>(images, floats);
  rows.largest = largest_as_float(problem);
  for_each_strip(problem, StripRows::in_image, executor, [&](const Strip& strip) {
    const std::int64_t done = begins_exact_as_float(images, strip, rows.largest)
                                  ? march_strip<NumberRows<Int32AsFloat>>(images, rows, strip, executor.scratch())
                                  : 0;
    if (done == strip.rows) return;
    const Strip rest = strip.below(done);
    if (!in_pairs) {
      march_strip<NumberRows<std::uint32_t>>(images, rows_with<std::uint32_t, std::uint32_t>(images, numbers), rest,
                                             executor.scratch());
      return;
    }
    for_each_copied(rest, [&](const Strip& piece) {
      march_strip<ImagePairRows<std::int32_t>>(images, rows_with<Int16Pair, std::int32_t>(images, pairs), piece,
                                               executor.scratch());
    });
  });
}

void march_fastest_exact_way(const Conv2dImages<float>& images, bool /*in_pairs*/, Executor& executor) {
  march_as<float, float>(images, executor);
}
void march_fastest_exact_way(const Conv2dImages<std::int32_t>& images, bool fit_pairs, Executor& executor) {
  const auto weights = static_cast<std::int64_t>(images.problem.filter.size());
  const bool in_pairs = fit_pairs && weights > kMostIntegerWeights;
  if (tries_as_float(images.problem) && (!fit_pairs || weights <= kMostWeightsAsFloat)) {
    march_as_float_while_exact(images, in_pairs, executor);
  } else if (in_pairs) {
    march_in_pairs(images, executor);
  } else {
    march_as<std::uint32_t, std::uint32_t>(images, executor);
  }
}
/// Pixels of 8 and 16 bits.
template <class Pixel>
void march_fastest_exact_way(const Conv2dImages<Pixel>& images, bool in_pairs, Executor& executor) {
  if (in_pairs) {
    march_in_pairs(images, executor);
  } else if (mathematics::is_exact_in_float32(images.problem)) {
    march_as<float, std::int32_t>(images, executor);
  } else {
    march_as<std::uint32_t, std::uint32_t>(images, executor);
  }
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
            return make_conv2d_kernel(
                with_rows_joined(problem),
                [in_pairs = has_fast_pairs() && fits_pairs(problem.filter)](Executor& executor, const auto& images) {
                  march_fastest_exact_way(images, in_pairs, executor);
                });
          },
      .pays = [](const Conv2d& problem,
                 const backend::Device& device) { return marching_pays(problem, native(device).team().threads); },
  };
}

}  // namespace tessera::cpu_tbb
