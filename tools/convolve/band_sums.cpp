// Running conv2d over bands and putting its sums together.
#include "tools/convolve/band_sums.h"

#include <algorithm>

namespace tessera::tool {

namespace {

std::size_t all_sums(const BandPlan& plan) {
  return plan.sums_size() * static_cast<std::size_t>(plan.convolved_planes());
}

}  // namespace

std::uint16_t Finish::operator()(std::int64_t sum) const noexcept {
  const auto number = static_cast<double>(takes_absolute && sum < 0 ? -sum : sum);
  // Within the range first: then cutting the fraction off is rounding down.
  return static_cast<std::uint16_t>(static_cast<int>(std::clamp(number / divisor + offset + 0.5, 0.0, largest)));
}

BandSums::BandSums(const Device& device, const BandPlan& plan, const IntegerFilter& filter,
                   const KernelOptions& options)
    : plan_(plan),
      image_(device.allocate<std::uint8_t>(plan.plane_size() * static_cast<std::size_t>(plan.convolved_planes()),
                                           {.label = "planes of a band"})),
      output_(device.allocate<std::int32_t>(all_sums(plan), {.label = "sums of a band"})),
      totals_(static_cast<std::size_t>(plan.output_width())),
      queue_(device) {
  Conv2d problem;
  problem.height = plan.padded_rows();
  problem.width = plan.padded_width();
  problem.filter_height = plan.filter_height;
  problem.filter_width = plan.filter_width;
  problem.border = Border::valid;  // the margins are part of the planes
  problem.type = DataType::uint8;
  problem.batch = plan.convolved_planes();
  for (const IntegerFilter::Part& part : filter.parts) {
    problem.filter = part.weights;
    parts_.push_back(
        {part.factor, device.kernel(problem, options), device.allocate_pinned<std::int32_t>(all_sums(plan))});
  }
}

void BandSums::compute(const ImageBands& bands) {
  queue_.upload(image_, bands.convolved());
  for (const Part& part : parts_) {
    queue_.run(part.kernel, {.image = image_, .output = output_});
    queue_.download(output_, part.sums);
  }
  queue_.finish();
}

void BandSums::finish_row(int channel, std::int64_t row, const Finish& finish, std::span<std::uint8_t> pixels) {
  std::fill(totals_.begin(), totals_.end(), 0);
  const int sample_bytes = plan_.image.sample_bytes;
  for (const Part& part : parts_) {
    for (int byte = 0; byte < sample_bytes; ++byte) {
      const int plane = channel * sample_bytes + byte;
      const std::int32_t* const sums =
          part.sums.data() + static_cast<std::size_t>(plane) * plan_.sums_size() + row * plan_.output_width();
      const std::int64_t factor = byte + 1 < sample_bytes ? part.factor * 256 : part.factor;
      for (std::size_t x = 0; x < totals_.size(); ++x) totals_[x] += factor * sums[x];
    }
  }
  std::uint8_t* pixel = pixels.data() + static_cast<std::size_t>(channel * sample_bytes);
  for (const std::int64_t total : totals_) {
    const std::uint16_t sample = finish(total);
    if (sample_bytes == 2) *pixel = static_cast<std::uint8_t>(sample >> 8);
    pixel[sample_bytes - 1] = static_cast<std::uint8_t>(sample & 0xff);
    pixel += plan_.image.pixel_bytes();
  }
}

std::string BandSums::variants() const {
  std::string names;
  for (const Part& part : parts_) {
    const std::string& name = part.kernel.info().variant;
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace tessera::tool
