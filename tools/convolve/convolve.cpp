// Bands of rows from the reader through the device to the writer.
#include "tools/convolve/convolve.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/convolve/band_sums.h"
#include "tools/convolve/integer_filter.h"
#include "tools/images/png_reader.h"
#include "tools/images/png_writer.h"
#include "tools/output/progress.h"
#include "tools/output/same_file.h"
#include "tools/process/add_time.h"
#include "tools/process/interrupt.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {

namespace {

/// Smaller images are done before a bar is read.
constexpr std::int64_t kPixelsWithProgress = 4'000'000;

BandPlan plan_bands(const Convolution& c, const PngReader& reader, const IntegerFilter& filter) {
  BandPlan plan{.image = reader.layout(), .border = c.border};
  plan.filter_height = c.filter.height;
  plan.filter_width = c.filter.width;
  // Of a filter of even size that is turned, the other one of its two middle elements stays on the pixel.
  plan.anchor_y = c.flip ? c.filter.height / 2 : (c.filter.height - 1) / 2;
  plan.anchor_x = c.flip ? c.filter.width / 2 : (c.filter.width - 1) / 2;
  plan.convolved_channels = plan.image.channels - (plan.image.has_alpha() && !c.convolves_alpha ? 1 : 0);
  choose_rows(plan, filter.parts.size(), c.band_bytes, reader.name());
  return plan;
}

Finish plan_finish(const Convolution& c, const PngLayout& layout, double scale) {
  Finish finish;
  finish.largest = layout.sample_bytes == 2 ? 65535 : 255;
  finish.offset = c.offset + c.offset_share * finish.largest;
  finish.takes_absolute = c.takes_absolute.value_or(c.filter.takes_absolute);
  const bool by_sum = c.divides_by_sum || (c.filter.divides_by_sum && !c.divisor);
  finish.divisor = by_sum ? c.filter.sum() : c.divisor.value_or(1);
  if (!(finish.divisor > 0)) {
    throw UsageError(
        fmt::format("the filter's weights sum to {}, but must sum to more than 0 for --divide sum", finish.divisor));
  }
  finish.divisor *= scale;
  return finish;
}

/// The rows of pixels of one band, from the planes and sums.
class BandWriter {
 public:
  BandWriter(PngWriter& writer, const BandPlan& plan, const Finish& finish, const PngLayout& layout)
      : writer_(writer), plan_(plan), finish_(finish), pixels_(layout.row_bytes()) {}

  void write_row(std::int64_t row, BandSums& sums, ImageBands& bands) {
    for (int channel = 0; channel < plan_.convolved_channels; ++channel) {
      sums.finish_row(channel, row, finish_, pixels_);
    }
    for (int plane = plan_.convolved_planes(); plane < plan_.planes(); ++plane) {
      const std::uint8_t* const copied = bands.copied_row(plane, row);
      for (std::int64_t x = 0; x < plan_.output_width(); ++x) {
        pixels_[static_cast<std::size_t>(x * plan_.image.pixel_bytes() + plane)] = copied[x];
      }
    }
    writer_.write_row(pixels_);
  }

 private:
  PngWriter& writer_;
  const BandPlan& plan_;
  const Finish& finish_;
  std::vector<std::uint8_t> pixels_;
};

/// A wrong request for a variant or a tuning value becomes a UsageError, because it comes from the command line.
BandSums prepare_sums(const Device& device, const BandPlan& plan, const IntegerFilter& filter,
                      const KernelOptions& options, double& seconds) {
  const AddTime timer(seconds);
  try {
    return {device, plan, filter, options};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
    throw;
  }
}

ConvolutionReport convolve_bands(const Convolution& c, const IntegerFilter& filter, const Device& device) {
  ConvolutionReport report;
  if (!c.replaces_input) refuse_same_file(c.input, c.output, "the image");
  PngReader reader(c.input, c.most_pixels);
  const BandPlan plan = plan_bands(c, reader, filter);
  const Finish finish = plan_finish(c, plan.image, filter.scale);
  PngLayout layout = plan.image;
  layout.width = plan.output_width();
  layout.height = plan.output_height();
  PngWriter writer(c.output, layout, &reader);
  BandSums sums = prepare_sums(device, plan, filter, c.kernel, report.compile_s);
  report.variants = sums.variants();
  ImageBands bands(device, plan);
  BandWriter band_writer(writer, plan, finish, layout);

  Progress progress(static_cast<std::size_t>(layout.height));
  const bool shows = layout.width * layout.height >= kPixelsWithProgress;
  const auto step = [&](std::int64_t done, const char* doing) {
    stop_if_interrupted();
    // Never 0: the bar is always drawn anew for 0, however short the time since the last drawing.
    if (shows) progress.show(static_cast<std::size_t>(std::max<std::int64_t>(done, 1)), doing);
  };
  for (std::int64_t first = 0; first < layout.height; first += plan.rows) {
    {
      const AddTime timer(report.read_s);
      bands.fill(first, [&](std::span<std::uint8_t> row) {
        step(first, "rows, reading");
        reader.read_row(row);
      });
    }
    {
      const AddTime timer(report.compute_s);
      sums.compute(bands);
    }
    const AddTime timer(report.write_s);
    for (std::int64_t row = 0; row < std::min(plan.rows, layout.height - first); ++row) {
      step(first + row, "rows, writing");
      band_writer.write_row(row, sums, bands);
    }
  }
  reader.finish();
  stop_if_interrupted();
  writer.finish();
  return report;
}

}  // namespace

ConvolutionReport convolve(const Convolution& convolution, const Device& device) {
  IntegerFilter filter = in_integers(convolution.filter);
  if (convolution.flip) {
    for (IntegerFilter::Part& part : filter.parts) std::reverse(part.weights.begin(), part.weights.end());
  }
  try {
    return convolve_bands(convolution, filter, device);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("there is not enough memory for the image '{}'", convolution.input));
  }
}

}  // namespace tessera::tool
