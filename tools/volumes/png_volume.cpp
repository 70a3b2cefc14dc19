// Pixels that stand side by side, and planes. Samples of 16 bit have the high byte first.
#include "tools/volumes/png_volume.h"

#include <utility>

#include <tessera/error.h>

#include "tools/images/png_reader.h"
#include "tools/images/png_writer.h"
#include "tools/process/interrupt.h"
#include "tools/volumes/endings.h"

namespace tessera::tool {

namespace {

class PngVolumeWriter : public VolumeWriter {
 public:
  /// `alpha` holds the samples of the alpha channel, if there is one, as bytes; it is there once the image was read.
  PngVolumeWriter(const std::string& path, const PngReader& reader, const std::vector<std::uint8_t>& alpha)
      : layout_(reader.layout()), alpha_(alpha), writer_(path, layout_, &reader) {}

  void write(const Voxels& voxels) override {
    if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&voxels)) {
      write_rows(*bytes);
    } else {
      write_rows(std::get<std::vector<std::uint16_t>>(voxels));
    }
  }
  void finish() override { writer_.finish(); }

 private:
  template <class T>
  void write_rows(const std::vector<T>& samples) {
    const auto channels = static_cast<std::size_t>(layout_.channels - (layout_.has_alpha() ? 1 : 0));
    const std::size_t pixels = samples.size() / channels;
    std::vector<std::uint8_t> row;
    for (std::size_t pixel = 0; pixel < pixels;) {
      stop_if_interrupted();
      row.clear();
      for (std::int64_t x = 0; x < layout_.width; ++x, ++pixel) {
        for (std::size_t c = 0; c < channels; ++c) {
          row.resize(row.size() + sizeof(T));
          store_number(samples[c * pixels + pixel], row.data() + row.size() - sizeof(T), true);
        }
        if (!layout_.has_alpha()) continue;
        const auto sample = alpha_.begin() + static_cast<std::ptrdiff_t>(pixel * sizeof(T));
        row.insert(row.end(), sample, sample + sizeof(T));
      }
      writer_.write_row(row);
    }
  }

  PngLayout layout_;
  const std::vector<std::uint8_t>& alpha_;
  PngWriter writer_;
};

class PngVolume : public VolumeFile {
 public:
  PngVolume(std::unique_ptr<InputFile> file, std::int64_t most_pixels) : reader_(std::move(file), most_pixels) {
    const PngLayout& layout = reader_.layout();
    head_.format = kPng;
    head_.type = layout.sample_bytes == 2 ? DataType::uint16 : DataType::uint8;
    head_.size = {layout.width, layout.height, 1};
    head_.channels = layout.channels - (layout.has_alpha() ? 1 : 0);
  }

  [[nodiscard]] const VolumeHead& head() const noexcept override { return head_; }
  [[nodiscard]] const std::string& name() const noexcept override { return reader_.name(); }
  [[nodiscard]] Voxels read() override {
    if (head_.type == DataType::uint8) return read_samples<std::uint8_t>();
    return read_samples<std::uint16_t>();
  }
  [[nodiscard]] std::unique_ptr<VolumeWriter> writer(const std::string& path) override {
    refuse_other_ending(path, kPng, name());
    return std::make_unique<PngVolumeWriter>(path, reader_, alpha_);
  }

 private:
  template <class T>
  std::vector<T> read_samples() {
    std::vector<T> samples;
    std::vector<std::uint8_t> row(reader_.layout().row_bytes());
    for (std::int64_t y = 0; y < head_.size.y; ++y) {
      stop_if_interrupted();
      reader_.read_row(row);
      const std::uint8_t* at = row.data();
      for (std::int64_t x = 0; x < head_.size.x; ++x) {
        for (std::int64_t c = 0; c < head_.channels; ++c, at += sizeof(T)) samples.push_back(load_number<T>(at, true));
        if (!reader_.layout().has_alpha()) continue;
        alpha_.insert(alpha_.end(), at, at + sizeof(T));
        at += sizeof(T);
      }
    }
    reader_.finish();
    return head_.channels == 3 ? apart(samples) : samples;
  }

  PngReader reader_;
  VolumeHead head_;
  std::vector<std::uint8_t> alpha_;
};

}  // namespace

std::unique_ptr<VolumeFile> open_png_volume(std::unique_ptr<InputFile> file, std::int64_t most_pixels) {
  return std::make_unique<PngVolume>(std::move(file), most_pixels);
}

void write_png(const std::string& path, std::int64_t width, std::int64_t height,
               const std::vector<std::uint8_t>& pixels) {
  const auto count = static_cast<std::size_t>(width * height);
  const std::size_t channels = pixels.size() / count;
  PngWriter writer(path, {.width = width, .height = height, .channels = static_cast<int>(channels)});
  std::vector<std::uint8_t> row(static_cast<std::size_t>(width) * channels);
  for (std::size_t pixel = 0; pixel < count;) {
    stop_if_interrupted();
    for (std::size_t at = 0; at < row.size(); at += channels, ++pixel) {
      for (std::size_t channel = 0; channel < channels; ++channel) row[at + channel] = pixels[channel * count + pixel];
    }
    writer.write_row(row);
  }
  writer.finish();
}

}  // namespace tessera::tool
