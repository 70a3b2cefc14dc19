// Pages one after the other, as planes of a volume or as several volumes.
#include "tools/volumes/tiff_volume.h"

#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/output/output_file.h"
#include "tools/process/interrupt.h"
#include "tools/volumes/endings.h"
#include "tools/volumes/tiff_page.h"

namespace tessera::tool {

namespace {

/// Files of more bytes are BigTIFF: what TIFF counts, less room for its tags.
constexpr std::uint64_t kMostPlainBytes = 0xf0000000U;

/// The number behind `word` in a description; 0 if it is not there.
std::int64_t number_behind(std::string_view text, std::string_view word) {
  const std::size_t found = text.find(word);
  if (found == std::string_view::npos) return 0;
  const char* const begin = text.data() + found + word.size();
  std::int64_t number = 0;
  std::from_chars(begin, text.data() + text.size(), number);
  return number;
}

/// Writes pages into memory, because libtiff writes a file out of order.
class TiffVolumeWriter : public VolumeWriter {
 public:
  /// `input` is read once more for its tags; null for a new file.
  TiffVolumeWriter(const std::string& path, const VolumeHead& head, const TiffPage& page, InputFile* input,
                   const std::string& mode)
      : head_(head), page_(page), file_(path, "the file"), tiff_(open_tiff(output_, mode.c_str())) {
    if (!tiff_) fail();
    if (input == nullptr) return;
    input_.file = input;
    source_ = open_tiff(input_, "rmc");
    if (!source_) fail();
  }

  void write(const Voxels& voxels) override {
    std::visit([this](const auto& numbers) { write_planes(numbers); }, voxels);
  }
  void finish() override {
    tiff_.reset();
    if (output_.has_no_memory) fail();
    for (std::size_t first = 0; first < output_.bytes.size(); first += kPieceBytes) {
      stop_if_interrupted();
      const std::size_t size = std::min(kPieceBytes, output_.bytes.size() - first);
      if (!file_.write(output_.bytes.data() + first, size)) file_.fail();
    }
    file_.commit();
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  template <class T>
  void write_planes(const std::vector<T>& numbers) {
    const std::size_t pixels = std::size_t{page_.width} * page_.height;
    const auto planes = static_cast<std::size_t>(head_.size.z);
    for (std::size_t plane = 0; plane < planes; ++plane, ++pages_) {
      if (source_ && pages_ > 0 && TIFFReadDirectory(source_.get()) == 0) fail();
      TiffPage page = page_;
      if (source_) {
        page = describe_again();
        copy_tiff_tags(source_.get(), tiff_.get());
      }
      std::vector<T> samples;
      samples.reserve(pixels * page.channels);
      for (std::size_t channel = 0; channel < page.channels; ++channel) {
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>((channel * planes + plane) * pixels);
        samples.insert(samples.end(), first, first + static_cast<std::ptrdiff_t>(pixels));
      }
      if (!write_page(tiff_.get(), page, samples)) fail();
    }
  }

  /// The page as it was described when it was read, unless somebody has written to the file since.
  TiffPage describe_again() const {
    try {
      TiffPage page = describe_page(source_.get());
      if (page.is_like(page_)) return page;
    } catch (const TiffRefusal&) {
    }
    fail();
  }

  [[noreturn]] void fail() const {
    stop_if_interrupted();
    if (output_.has_no_memory) throw Error::out_of_host_memory();
    throw Error(ErrorCode::internal, fmt::format("libtiff does not write page {}: {}{}", pages_ + 1,
                                                 output_.words.data(), input_.words.data()));
  }

  VolumeHead head_;
  TiffPage page_;
  OutputFile file_;
  TiffStream output_;
  TiffStream input_;
  Tiff tiff_;
  Tiff source_;
  std::size_t pages_ = 0;
};

class TiffVolume : public VolumeFile {
 public:
  explicit TiffVolume(std::unique_ptr<InputFile> file) : file_(std::move(file)) {
    if (!file_->size_bytes()) refuse("is TIFF, whose pages stand in any order: it cannot come through a pipe");
    stream_.file = file_.get();
    rewind();
    page_ = describe();
    description_ = described();
    for (pages_ = 1; next_directory(); ++pages_) {
      const TiffPage page = describe();
      if (page.is_like(page_)) continue;
      refuse(
          fmt::format("has {} x {} pixels of {} x {} in page {}, but {} x {} of {} x {} in page 1: pages must be alike",
                      page.width, page.height, page.channels, to_string(page.type), pages_ + 1, page_.width,
                      page_.height, page_.channels, to_string(page_.type)));
    }
    head_ = {.format = kTiff, .type = page_.type, .channels = page_.channels};
    std::int64_t bytes = static_cast<std::int64_t>(size_bytes(head_.type)) * page_.channels * pages_;
    if (__builtin_mul_overflow(bytes, page_.width, &bytes) || __builtin_mul_overflow(bytes, page_.height, &bytes)) {
      refuse(fmt::format("has {} pages of {} x {} pixels, which are more bytes than 63 bits count", pages_, page_.width,
                         page_.height));
    }
    head_.frames = frames();
    head_.size = {page_.width, page_.height, pages_ / head_.frames};
    rewind();
    page_ = describe();
  }

  [[nodiscard]] const VolumeHead& head() const noexcept override { return head_; }
  [[nodiscard]] const std::string& name() const noexcept override { return file_->name(); }
  [[nodiscard]] Voxels read() override {
    Voxels voxels = no_voxels(head_.type);
    std::visit([this](auto& numbers) { read_planes(numbers); }, voxels);
    return voxels;
  }
  [[nodiscard]] std::unique_ptr<VolumeWriter> writer(const std::string& path) override {
    refuse_other_ending(path, kTiff, name());
    std::array<std::uint8_t, 4> magic{};
    (void)file_->read_at(0, magic.data(), magic.size());
    const bool is_big = magic[2] == '+' || magic[3] == '+' || plain_bytes() > kMostPlainBytes;
    const std::string mode = fmt::format("w{}{}", TIFFIsBigEndian(tiff_.get()) != 0 ? 'b' : 'l', is_big ? "8" : "");
    return std::make_unique<TiffVolumeWriter>(path, head_, page_, file_.get(), mode);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", name(), why));
  }
  void rewind() {
    tiff_.reset();
    stream_.position = 0;
    tiff_ = open_tiff(stream_, "rmc");  // no mapping into memory, and strips as they are
    stop_if_interrupted();
    if (!tiff_ || stream_.words[0] != '\0') refuse(fmt::format("is damaged: {}", stream_.words.data()));
    next_page_ = 0;
  }
  /// Passes on what is thrown about a page, in the file's name.
  template <class Body>
  auto of_page(std::int64_t page, const Body& body) -> decltype(body()) {
    try {
      return body();
    } catch (const TiffRefusal& refusal) {
      stop_if_interrupted();
      refuse(fmt::format("has a page {} that {}", page + 1, refusal.why));
    }
  }
  /// False behind the last page. Refuses what libtiff complains about.
  bool next_directory() {
    stop_if_interrupted();
    stream_.words = {};
    const bool is_there = TIFFReadDirectory(tiff_.get()) != 0;
    stop_if_interrupted();
    if (stream_.words[0] != '\0') {
      refuse(fmt::format("is damaged behind page {} ({})", next_page_ > 0 ? next_page_ : pages_, stream_.words.data()));
    }
    return is_there;
  }
  TiffPage describe() {
    return of_page(pages_, [this] { return describe_page(tiff_.get()); });
  }
  std::string described() {
    char* text = nullptr;
    return TIFFGetField(tiff_.get(), TIFFTAG_IMAGEDESCRIPTION, &text) != 0 && text != nullptr ? text : "";
  }
  [[nodiscard]] std::uint64_t plain_bytes() const {
    return static_cast<std::uint64_t>(head_.voxels() * head_.frames) * size_bytes(head_.type);
  }

  /// Volumes in the file, as programs for microscopes say it in the first page's description.
  [[nodiscard]] std::int64_t frames() const {
    const bool is_imagej = description_.starts_with("ImageJ=");
    const bool is_ome = description_.find("<OME") != std::string::npos;
    if (!is_imagej && !is_ome) return 1;
    const std::int64_t channels = number_behind(description_, is_imagej ? "\nchannels=" : "SizeC=\"");
    const std::int64_t times = number_behind(description_, is_imagej ? "\nframes=" : "SizeT=\"");
    const std::int64_t images = is_imagej ? number_behind(description_, "\nimages=") : 0;
    if (channels > 1 && page_.channels == 1) {
      refuse(fmt::format("says in its description that it holds {} channels, page by page: take each by itself",
                         channels));
    }
    if (images > pages_) {
      refuse(
          fmt::format("says in its description that it holds {} images, but has {} pages: ImageJ writes what is "
                      "larger than TIFF in a way of its own",
                      images, pages_));
    }
    if (times <= 1) return 1;
    if (is_ome || pages_ % times != 0) {
      refuse(fmt::format("says in its description that it holds {} points of time in {} pages: take each by itself",
                         times, pages_));
    }
    return times;
  }

  template <class T>
  void read_planes(std::vector<T>& planes) {
    std::array<std::vector<T>, 3> channels;
    for (std::int64_t plane = 0; plane < head_.size.z; ++plane, ++next_page_) {
      if (next_page_ > 0) {
        const bool is_there = next_directory();
        const TiffPage before = std::exchange(
            page_, is_there ? of_page(next_page_, [this] { return describe_page(tiff_.get()); }) : TiffPage());
        if (!page_.is_like(before)) refuse(fmt::format("has changed its page {} while it is read", next_page_ + 1));
      }
      const auto samples =
          of_page(next_page_, [this] { return std::get<std::vector<T>>(read_page(tiff_.get(), page_, stream_)); });
      const std::size_t pixels = samples.size() / page_.channels;
      for (std::size_t c = 0; c < page_.channels; ++c) {
        const auto first = samples.begin() + static_cast<std::ptrdiff_t>(c * pixels);
        channels[c].insert(channels[c].end(), first, first + static_cast<std::ptrdiff_t>(pixels));
      }
    }
    for (std::size_t c = 1; c < page_.channels; ++c) {
      channels[0].insert(channels[0].end(), channels[c].begin(), channels[c].end());
      channels[c] = {};
    }
    planes = std::move(channels[0]);
  }

  std::unique_ptr<InputFile> file_;
  TiffStream stream_;
  Tiff tiff_;
  TiffPage page_;
  std::string description_;
  std::int64_t pages_ = 0;
  std::int64_t next_page_ = 0;
  VolumeHead head_;
};

}  // namespace

std::unique_ptr<VolumeFile> open_tiff_volume(std::unique_ptr<InputFile> file) {
  return std::make_unique<TiffVolume>(std::move(file));
}

std::unique_ptr<VolumeWriter> create_tiff_volume(const std::string& path, DataType type, const PerAxis& size) {
  constexpr std::int64_t kMostSide = 0x7fffffff;
  if (size.x > kMostSide || size.y > kMostSide) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' is to be TIFF of {} x {} pixels, but that holds at most {} along an axis", path,
                            size.x, size.y, kMostSide));
  }
  TiffPage page;
  page.width = static_cast<std::uint32_t>(size.x);
  page.height = static_cast<std::uint32_t>(size.y);
  page.type = type;
  const VolumeHead head{.format = kTiff, .type = type, .size = size};
  const bool is_big = static_cast<std::uint64_t>(head.voxels()) * size_bytes(type) > kMostPlainBytes;
  return std::make_unique<TiffVolumeWriter>(path, head, page, nullptr, is_big ? "wl8" : "wl");
}

}  // namespace tessera::tool
