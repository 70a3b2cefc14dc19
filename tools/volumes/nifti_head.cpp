// The head of a NIfTI-1 file: 348 bytes in the machine's order that wrote them, and what stands between them and the
// first voxel. What is not needed here, such as orientation, is carried over unread.
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/volumes/endings.h"
#include "tools/volumes/raw_volume.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kNiftiHeadBytes = 348;
constexpr std::size_t kFirstVoxel = 352;  // the least: behind the head stand four bytes about extensions
constexpr std::int32_t kNifti2Bytes = 540;
constexpr std::size_t kMostExtensionBytes = std::size_t{1} << 28;
constexpr std::size_t kExtensionPieceBytes = std::size_t{1} << 16;
constexpr std::int64_t kMostNiftiLength = 32767;

// Where fields stand.
constexpr std::size_t kRegularPlace = 38, kLengthsPlace = 40, kTypePlace = 70, kBitsPlace = 72, kSpacingPlace = 76,
                      kVoxelPlace = 108, kSlopePlace = 112, kInterceptPlace = 116, kUnitsPlace = 123, kMagicPlace = 344;

struct NiftiType {
  std::int16_t code;
  DataType type;
  std::int64_t channels = 1;
};
constexpr NiftiType kNiftiTypes[] = {{2, DataType::uint8},     {4, DataType::int16},     {8, DataType::int32},
                                     {16, DataType::float32},  {64, DataType::float64},  {256, DataType::int8},
                                     {512, DataType::uint16},  {768, DataType::uint32},  {1024, DataType::int64},
                                     {1280, DataType::uint64}, {128, DataType::uint8, 3}};

/// NiftiFields of the head in its order of bytes.
class NiftiFields {
 public:
  NiftiFields(const std::string& bytes, bool high_byte_first)
      : bytes_(reinterpret_cast<const std::uint8_t*>(bytes.data())), high_byte_first_(high_byte_first) {}
  template <class T>
  [[nodiscard]] T at(std::size_t place) const {
    return load_number<T>(bytes_ + place, high_byte_first_);
  }

 private:
  const std::uint8_t* bytes_;
  bool high_byte_first_;
};

void set_nifti_type(VolumeHead& head, const NiftiFields& fields, const ByteSource& source) {
  const auto code = fields.at<std::int16_t>(kTypePlace);
  for (const NiftiType& known : kNiftiTypes) {
    if (known.code != code) continue;
    head.type = known.type;
    head.channels = known.channels;
    const auto bits = fields.at<std::int16_t>(kBitsPlace);
    const auto meant = static_cast<std::int64_t>(8 * size_bytes(known.type)) * known.channels;
    if (bits == meant) return;
    source.refuse(fmt::format("says that a voxel of its type, {}, has {} bits at {}, but it has {}", code, bits,
                              source.place(kBitsPlace), meant));
  }
  source.refuse(
      fmt::format("has voxels of NIfTI's type {} ({}), but they must be integers of 8 to 64 bits, float32, "
                  "float64 or RGB of 8 bits",
                  code, source.place(kTypePlace)));
}

std::vector<std::uint64_t> read_nifti_lengths(const NiftiFields& fields, const ByteSource& source) {
  const auto count = fields.at<std::int16_t>(kLengthsPlace);
  if (count < 1 || count > 7) {
    source.refuse(fmt::format("says at {} that it has {} dimensions, but it must have 1 to 7",
                              source.place(kLengthsPlace), count));
  }
  std::vector<std::uint64_t> lengths;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(count); ++i) {
    const std::size_t place = kLengthsPlace + 2 * i;
    const auto length = fields.at<std::int16_t>(place);
    if (length < 1) {
      source.refuse(fmt::format("says at {} that its length {} is {}, but it must be at least 1", source.place(place),
                                i, length));
    }
    lengths.push_back(static_cast<std::uint64_t>(length));
  }
  return lengths;
}

/// Where the first voxel stands.
std::size_t voxel_place(const NiftiFields& fields, const ByteSource& source) {
  const auto place = fields.at<float>(kVoxelPlace);
  if (place >= kNiftiHeadBytes && place <= kMostExtensionBytes && place == std::floor(place)) {
    return static_cast<std::size_t>(place);
  }
  source.refuse(
      fmt::format("says at {} that its voxels begin at byte {}, but they must at a whole number from {} to {}",
                  source.place(kVoxelPlace), place, kNiftiHeadBytes, kMostExtensionBytes));
}

void read_further(std::string& bytes, std::size_t size, ByteSource& source) {
  while (bytes.size() < size) {
    const std::size_t before = bytes.size(), part = std::min(kExtensionPieceBytes, size - before);
    bytes.resize(before + part);
    if (source.read(reinterpret_cast<std::uint8_t*>(bytes.data()) + before, part) == part) continue;
    source.refuse(fmt::format("ends at {}, before its first voxel, which its head promises at byte {}",
                              source.place(source.position()), size));
  }
}

}  // namespace

RawHead read_nifti_head(ByteSource& source) {
  RawHead head;
  head.volume.format = kNifti;
  head.bytes.resize(kNiftiHeadBytes);
  if (source.read(reinterpret_cast<std::uint8_t*>(head.bytes.data()), kNiftiHeadBytes) != kNiftiHeadBytes) {
    source.refuse(fmt::format("ends at {}, in its head", source.place(source.position())));
  }
  head.high_byte_first = head.bytes[0] == 0;
  const NiftiFields fields(head.bytes, head.high_byte_first);
  const std::string_view magic = std::string_view(head.bytes).substr(kMagicPlace, 4);
  if (fields.at<std::int32_t>(0) == kNifti2Bytes) source.refuse("is NIfTI-2, but only NIfTI-1 is read");
  if (magic == std::string_view("ni1\0", 4)) {
    source.refuse("is a head alone, whose voxels are in an .img file; put both into one .nii file");
  }
  if (magic != std::string_view("n+1\0", 4)) {
    source.refuse(
        fmt::format("begins as NIfTI-1 does, but has no \"n+1\" at {}: it may be Analyze's, which is not read",
                    source.place(kMagicPlace)));
  }
  set_nifti_type(head.volume, fields, source);
  set_lengths(head.volume, read_nifti_lengths(fields, source), source);
  const auto slope = fields.at<float>(kSlopePlace), intercept = fields.at<float>(kInterceptPlace);
  if (slope != 0 && std::isfinite(slope) && std::isfinite(intercept)) {  // 0 says that there is no scale
    head.volume.slope = slope;
    head.volume.intercept = intercept;
  }
  read_further(head.bytes, voxel_place(fields, source), source);
  return head;
}

RawHead new_nifti_head(DataType type, const PerAxis& size, const std::string& path) {
  RawHead head{.volume = {.format = kNifti, .type = type, .size = size}, .bytes = std::string(kFirstVoxel, '\0')};
  auto* const bytes = reinterpret_cast<std::uint8_t*>(head.bytes.data());
  const std::array<std::int64_t, 3> lengths{size.x, size.y, size.z};
  store_number(static_cast<std::int32_t>(kNiftiHeadBytes), bytes, false);
  bytes[kRegularPlace] = 'r';
  store_number(std::int16_t{3}, bytes + kLengthsPlace, false);
  for (std::size_t i = 0; i < 7; ++i) {
    const std::int64_t length = i < lengths.size() ? lengths[i] : 1;
    if (length > kMostNiftiLength) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("'{}' is to be NIfTI-1 with {} voxels along an axis, but that holds at most {}", path,
                              length, kMostNiftiLength));
    }
    store_number(static_cast<std::int16_t>(length), bytes + kLengthsPlace + 2 * (i + 1), false);
  }
  for (const NiftiType& known : kNiftiTypes) {
    if (known.type != type || known.channels != 1) continue;
    store_number(known.code, bytes + kTypePlace, false);
    store_number(static_cast<std::int16_t>(8 * size_bytes(type)), bytes + kBitsPlace, false);
  }
  for (std::size_t i = 0; i < 4; ++i) store_number(1.0F, bytes + kSpacingPlace + 4 * i, false);
  store_number(static_cast<float>(kFirstVoxel), bytes + kVoxelPlace, false);
  store_number(1.0F, bytes + kSlopePlace, false);
  bytes[kUnitsPlace] = 2;  // millimetres
  head.bytes.replace(kMagicPlace, 3, "n+1");
  return head;
}

}  // namespace tessera::tool
