// The inner part of "unrolled": a stretch of an output row whose whole filter lies in the image, in the best
// instruction set that the processor has.
#pragma once

#include <cstdint>

#include "ops/conv2d/conv2d_operands.h"

namespace tessera::cpu_tbb {

template <class Pixel>
struct UnrolledRow {
  const Pixel* source = nullptr;  ///< the image's pixel under the filter's first, for the first output
  std::int64_t width = 0;         ///< of the image: from one row of it to the next
  const Conv2dSum<Pixel>* weights = nullptr;
  Conv2dOutput<Pixel>* output = nullptr;
  std::int64_t columns = 0;
};

/// `filter_side` is 3, 5 or 7.
void convolve_unrolled(std::int64_t filter_side, const UnrolledRow<std::uint8_t>& row);
void convolve_unrolled(std::int64_t filter_side, const UnrolledRow<std::int16_t>& row);
void convolve_unrolled(std::int64_t filter_side, const UnrolledRow<std::int32_t>& row);
void convolve_unrolled(std::int64_t filter_side, const UnrolledRow<float>& row);

}  // namespace tessera::cpu_tbb
