// Which format a file has, by its first bytes; and which a new one gets, by its name's ending.
#include "tools/volumes/volume_file.h"

#include <span>
#include <utility>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/input/byte_source.h"
#include "tools/input/input_file.h"
#include "tools/process/interrupt.h"
#include "tools/volumes/endings.h"
#include "tools/volumes/png_volume.h"
#include "tools/volumes/raw_volume.h"
#include "tools/volumes/tiff_volume.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kFirstBytes = 4;

std::string_view letters(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_tiff(std::string_view first) {
  for (const std::string_view magic : {std::string_view("II*\0", 4), std::string_view("MM\0*", 4),
                                       std::string_view("II+\0", 4), std::string_view("MM\0+", 4)}) {
    if (first == magic) return true;
  }
  return false;
}

/// NIfTI-1 begins with its head's size, 348, in either order; NIfTI-2 with 540.
bool is_nifti(std::string_view first) {
  for (const std::string_view magic : {std::string_view("\x5c\1\0\0", 4), std::string_view("\0\0\1\x5c", 4),
                                       std::string_view("\x1c\2\0\0", 4), std::string_view("\0\0\2\x1c", 4)}) {
    if (first == magic) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<VolumeFile> open_volume(const std::string& path, const VolumeLimits& limits) {
  auto file = std::make_unique<InputFile>(path, "the file");
  const std::string_view outside = letters(file->look_ahead(kFirstBytes));
  stop_if_interrupted();
  if (outside == "\x89PNG") return open_png_volume(std::move(file), limits.most_pixels);
  if (is_tiff(outside)) return open_tiff_volume(std::move(file));
  auto source = std::make_unique<ByteSource>(std::move(file));
  const std::string_view first = letters(source->look_ahead(kFirstBytes));
  if (first.empty()) source->refuse("is empty");
  RawHead head;
  if (first == "NRRD") {
    head = read_nrrd_head(*source);
  } else if (first.front() == '\x93') {
    head = read_npy_volume_head(*source);
  } else if (is_nifti(first)) {
    head = read_nifti_head(*source);
  } else {
    source->refuse(fmt::format("is neither PNG, NPY, NRRD, NIfTI-1 nor TIFF: it begins with {:#04x}",
                               fmt::join(source->look_ahead(kFirstBytes), " ")));
  }
  return std::make_unique<RawVolume>(std::move(source), std::move(head));
}

std::unique_ptr<VolumeWriter> create_volume(const std::string& path, DataType type, const PerAxis& size) {
  const std::string_view format = format_of_ending(path);
  if (format == kTiff) return create_tiff_volume(path, type, size);
  RawHead head;
  if (format == kNrrd) {
    head = new_nrrd_head(type, size);
  } else if (format == kNifti) {
    head = new_nifti_head(type, size, path);
  } else if (format == kNpy) {
    head = new_npy_head(type, size);
  } else {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' must end in .nrrd, .nii, .nii.gz, .npy or .tif, which says its format", path));
  }
  if (is_packed_by_ending(path, false)) head.packing = Packing::whole;
  return write_raw_volume(path, head);
}

}  // namespace tessera::tool
