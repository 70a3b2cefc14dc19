// The sums of a filter over the planes of one band, computed on a device as any program would, and what becomes of
// them: divided, moved, rounded and held within the range of a sample.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tessera/tessera.h>

#include "tools/convolve/image_bands.h"
#include "tools/convolve/integer_filter.h"

namespace tessera::tool {

/// sample = sum / divisor + offset, or |sum| / divisor + offset; to the nearest integer, halves up; then 0 to largest.
struct Finish {
  double divisor = 1;
  double offset = 0;
  bool takes_absolute = false;
  double largest = 255;

  [[nodiscard]] std::uint16_t operator()(std::int64_t sum) const noexcept;
};

/// One part of a filter after the other over every convolved plane of a band.
class BandSums {
 public:
  /// Errors as Device::kernel's. The filter's parts are the plan's size.
  BandSums(const Device& device, const BandPlan& plan, const IntegerFilter& filter, const KernelOptions& options);

  /// Computes the sums of this band and waits for them.
  void compute(const ImageBands& bands);
  /// Row `row` of output of one channel: the finished samples, into the row of pixels of which the channel is part.
  void finish_row(int channel, std::int64_t row, const Finish& finish, std::span<std::uint8_t> pixels);

  /// The variant that runs: the same for every part, unless weights decide.
  [[nodiscard]] std::string variants() const;

 private:
  struct Part {
    std::int64_t factor;
    OperatorKernel<Conv2d> kernel;
    PinnedBuffer<std::int32_t> sums;
  };

  BandPlan plan_;
  Buffer<std::uint8_t> image_;
  Buffer<std::int32_t> output_;
  std::vector<Part> parts_;
  std::vector<std::int64_t> totals_;
  Queue queue_;
};

}  // namespace tessera::tool
