// Voxels behind a head, in either order of bytes.
#include "tools/volumes/raw_volume.h"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "tools/gzip/gzip_file.h"
#include "tools/process/interrupt.h"
#include "tools/volumes/endings.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kRawPieceBytes = std::size_t{1} << 20;

bool must_swap(bool high_byte_first) {
  return high_byte_first != (std::endian::native == std::endian::big);
}

class RawWriter : public VolumeWriter {
 public:
  RawWriter(const std::string& path, const RawHead& head)
      : head_(head), file_(path, "the file", head.packing == Packing::whole) {
    file_.write({reinterpret_cast<const std::uint8_t*>(head_.bytes.data()), head_.bytes.size()});
    if (head_.packing == Packing::voxels) file_.pack_from_here();
  }

  void write(const Voxels& voxels) override {
    std::visit([this](const auto& numbers) { write_numbers(numbers); }, voxels);
  }
  void finish() override { file_.commit(); }

 private:
  template <class T>
  void write_numbers(const std::vector<T>& numbers) {
    const std::size_t channels = static_cast<std::size_t>(head_.volume.channels);
    const std::size_t voxels = numbers.size() / channels;
    piece_.resize(kRawPieceBytes / sizeof(T) * sizeof(T));
    for (std::size_t first = 0; first < numbers.size();) {
      stop_if_interrupted();
      const std::size_t count = std::min(piece_.size() / sizeof(T), numbers.size() - first);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = first + i;
        const T number = channels == 1 ? numbers[at] : numbers[at % channels * voxels + at / channels];
        store_number(number, piece_.data() + i * sizeof(T), head_.high_byte_first);
      }
      file_.write({piece_.data(), count * sizeof(T)});
      first += count;
    }
  }

  RawHead head_;
  GzipFile file_;
  std::vector<std::uint8_t> piece_;
};

}  // namespace

void set_lengths(VolumeHead& head, std::span<const std::uint64_t> lengths, const ByteSource& source) {
  std::uint64_t numbers = static_cast<std::uint64_t>(head.channels);
  std::int64_t sizes[4] = {1, 1, 1, 1};
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max() / size_bytes(head.type);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) source.refuse(fmt::format("says in its head that its length {} is 0", i));
    if (__builtin_mul_overflow(numbers, lengths[i], &numbers) || numbers > most) {
      source.refuse(fmt::format("says in its head that it holds {} numbers, which are more bytes than 63 bits count",
                                fmt::join(lengths, " x ")));
    }
    sizes[std::min<std::size_t>(i, 3)] *= static_cast<std::int64_t>(lengths[i]);
  }
  head.size = {sizes[0], sizes[1], sizes[2]};
  head.frames = sizes[3];
}

RawVolume::RawVolume(std::unique_ptr<ByteSource> source, RawHead head)
    : source_(std::move(source)), head_(std::move(head)) {
  if (head_.packing == Packing::voxels) {
    source_->unpack_rest();
  } else if (source_->is_packed()) {
    head_.packing = Packing::whole;
  }
  const std::optional<std::uint64_t> size = source_->size_bytes();
  if (size && *size != head_.bytes.size() + voxel_bytes()) {
    source_->refuse(fmt::format("has {} bytes, but its head promises {}", *size, promise()));
  }
}

std::uint64_t RawVolume::voxel_bytes() const {
  return static_cast<std::uint64_t>(head_.volume.voxels()) * static_cast<std::uint64_t>(head_.volume.frames) *
         size_bytes(head_.volume.type);
}

std::string RawVolume::promise() const {
  const VolumeHead& v = head_.volume;
  std::string lengths = fmt::format("{} x {} x {}", v.size.x, v.size.y, v.size.z);
  if (v.frames > 1) lengths += fmt::format(" x {}", v.frames);
  const std::uint64_t before = head_.packing == Packing::voxels ? 0 : head_.bytes.size();
  // The sum stays below 2^64: the voxels alone are below 2^63.
  return fmt::format("{} voxels{} of {}, which make {}", lengths, v.channels == 3 ? " of three colours" : "",
                     to_string(v.type), before + voxel_bytes());
}

Voxels RawVolume::read() {
  Voxels voxels = no_voxels(head_.volume.type);
  std::visit([this](auto& numbers) { fill(numbers); }, voxels);
  std::uint8_t more = 0;
  if (++frames_read_ == head_.volume.frames && source_->read(&more, 1) != 0) {
    source_->refuse(
        fmt::format("goes on at {}, where its head promises its end", source_->place(source_->position() - 1)));
  }
  return voxels;
}

template <class T>
void RawVolume::fill(std::vector<T>& numbers) {
  const auto count = static_cast<std::size_t>(head_.volume.voxels());
  if (source_->size_bytes()) numbers.reserve(count);  // the file's size is what the head promises
  while (numbers.size() < count) {
    const std::size_t before = numbers.size();
    const std::size_t part = std::min(count - before, kRawPieceBytes / sizeof(T));
    numbers.resize(before + part);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(numbers.data() + before);
    if (source_->read(bytes, part * sizeof(T)) != part * sizeof(T)) {
      source_->refuse(
          fmt::format("ends at {}, but its head promises {} bytes", source_->place(source_->position()), promise()));
    }
    if (sizeof(T) == 1 || !must_swap(head_.high_byte_first)) continue;
    for (std::size_t i = 0; i < part; ++i)
      numbers[before + i] = load_number<T>(bytes + i * sizeof(T), head_.high_byte_first);
  }
  if (head_.volume.channels == 3) numbers = apart(numbers);
}

std::unique_ptr<VolumeWriter> RawVolume::writer(const std::string& path) {
  RawHead head = head_;
  refuse_other_ending(path, head.volume.format, name());
  if (head.packing != Packing::voxels) {
    head.packing = is_packed_by_ending(path, head.packing == Packing::whole) ? Packing::whole : Packing::none;
  }
  return write_raw_volume(path, head);
}

std::unique_ptr<VolumeWriter> write_raw_volume(const std::string& path, const RawHead& head) {
  return std::make_unique<RawWriter>(path, head);
}

}  // namespace tessera::tool
