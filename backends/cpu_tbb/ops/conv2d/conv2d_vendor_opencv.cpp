// The variant "vendor_opencv": OpenCV's filter2D for float images, through a module that is opened at run time if it is
// there. A yardstick for our own variants: it stands behind `marching`, which accepts everything, so that it is not
// taken unless asked for.
//
// filter2D computes on one thread. The output is cut into strips of rows, one for an image where the device has one
// thread, and each strip is a call of its own: OpenCV reads the rows around it where they lie in the image.
//
//     +-----------------+
//     |    filter2D     |  thread 0      It correlates, as the operator does, with zeros around the image. Border valid
//     |-----------------|                is the same with the anchor in the filter's first element and an output that
//     |    filter2D     |  thread 1      ends where the filter would reach over the image.
//     +-----------------+
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "ops/conv2d/conv2d_operands.h"
#include "ops/conv2d/conv2d_variants.h"
#include "vendor/cpu_tbb_opencv.h"

namespace tessera::cpu_tbb {

namespace {

using backend::sentence;
using backend::Verdict;

/// From 50 weights on filter2D may go through a discrete Fourier transform, whose error is another. In float it begins
/// with 130 on processors with SSE3, unless the program says cv::setUseOptimized(false), which it may at any time.
constexpr std::int64_t kMostWeights = 49;
/// filter2D counts rows, and the bytes of as many rows as a filter has, in 32 bits.
constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostColumns = kMostRows / static_cast<std::int64_t>(sizeof(float)) / 64 - 64;

/// Strips for each thread, so that one that is disturbed leaves work to the others, and the rows of a strip at least,
/// in heights of the filter, because the rows around a strip are fetched twice.
constexpr std::int64_t kStripsPerThread = 4;
constexpr std::int64_t kFewestHeights = 8;

Verdict check_size(const char* name, std::int64_t value, std::int64_t most) {
  if (value <= most) return Verdict::yes();
  return Verdict::no(sentence(name, " of conv2d is ", value, ", but OpenCV takes at most ", most));
}

/// filter2D leaves out what is multiplied by 0, where the operator wants infinity times 0 to be no number.
Verdict check_weights(const Conv2d& problem) {
  const auto zero = std::find(problem.filter.begin(), problem.filter.end(), 0.0);
  if (zero == problem.filter.end()) return Verdict::yes();
  const std::int64_t index = zero - problem.filter.begin();
  return Verdict::no(sentence("filter(", index / problem.filter_width, ", ", index % problem.filter_width,
                              ") of conv2d is 0, but OpenCV leaves such weights out, so that a pixel that is no finite "
                              "number would not reach the sum"));
}

Verdict check(const Conv2d& problem, const backend::Device&) {
  if (problem.type != DataType::float32)
    return Verdict::no(sentence("the type of conv2d is ", to_string(problem.type),
                                ", but OpenCV is asked for float32 alone, because filter2D writes no int32"));
  if (const std::int64_t weights = problem.filter_height * problem.filter_width; weights > kMostWeights)
    return Verdict::no(sentence("the filter of conv2d has ", weights, " weights, but from ", kMostWeights + 1,
                                " on OpenCV may compute by a Fourier transform"));
  if (Verdict weights = check_weights(problem); !weights) return weights;
  if (Verdict height = check_size("height", problem.height, kMostRows); !height) return height;
  if (Verdict width = check_size("width", problem.width, kMostColumns); !width) return width;
  return opencv_library().check();
}

std::int64_t strips_of_image(const Conv2d& problem, int threads) {
  if (threads == 1) return 1;
  const std::int64_t wanted = mathematics::ceil_div(kStripsPerThread * threads, problem.batch);
  return std::clamp<std::int64_t>(problem.output_height() / (kFewestHeights * problem.filter_height), 1, wanted);
}

void convolve(const Conv2dImages<float>& images, const std::vector<float>& weights, Executor& executor) {
  const Conv2d& problem = images.problem;
  const std::int64_t strips = strips_of_image(problem, executor.threads());
  const std::int64_t strip_rows = mathematics::ceil_div(images.output_height, strips);
  executor.parallel_for(problem.batch * strips, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t index = first; index < last; ++index) {
      const std::int64_t row = index % strips * strip_rows;
      const std::int64_t rows = std::min(strip_rows, images.output_height - row);
      if (rows <= 0) continue;
      const std::int64_t output_row = index / strips * images.output_height + row;
      opencv_library().filter2d({.image = images.image_of(output_row),
                                 .image_rows = static_cast<int>(problem.height),
                                 .image_columns = static_cast<int>(problem.width),
                                 .output = images.row_of(output_row),
                                 .first_row = static_cast<int>(row),
                                 .rows = static_cast<int>(rows),
                                 .columns = static_cast<int>(images.output_width),
                                 .weights = weights.data(),
                                 .filter_rows = static_cast<int>(problem.filter_height),
                                 .filter_columns = static_cast<int>(problem.filter_width),
                                 .anchor_row = static_cast<int>(problem.anchor_y),
                                 .anchor_column = static_cast<int>(problem.anchor_x)});
    }
  });
}

}  // namespace

backend::Variant<Conv2d> conv2d_vendor_opencv() {
  return {
      .name = "vendor_opencv",
      .summary = "OpenCV's filter2D in strips spread over the threads; opened at run time if it is there",
      .check = check,
      .tunables = nullptr,
      .make =
          [](const Conv2d& problem, backend::Device&, const Tuning&) {
            return make_conv2d_kernel(problem, [weights = conv2d_weights<float>(problem.filter)]<class Pixel>(
                                                   Executor& executor, const Conv2dImages<Pixel>& images) {
              if constexpr (std::is_same_v<Pixel, float>) convolve(images, weights, executor);
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
