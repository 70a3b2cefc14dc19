// Files of volumes and images: opened whatever their format, read volume by volume, and written anew with other voxels,
// all else as it was. The formats' own files are in this room; nothing here knows what is done with voxels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tessera/ops/patch_match.h>
#include <tessera/types.h>

#include "tools/volumes/voxels.h"

namespace tessera::tool {

/// What a file holds: volumes of one size, one behind the other. An image is a volume whose size.z is 1.
struct VolumeHead {
  std::string_view format;  ///< "NRRD"
  DataType type = DataType::uint8;
  PerAxis size = {};
  std::int64_t channels = 1;  ///< 1, or 3: red, green, blue
  std::int64_t frames = 1;    ///< volumes, as of points of time
  /// A stored number stands for slope * number + intercept.
  double slope = 1;
  double intercept = 0;

  [[nodiscard]] std::int64_t voxels() const noexcept { return size.product() * channels; }
};

/// Every fault of a file is an Error invalid_argument of one line: the file, what is wrong, and where. Nothing is
/// taken on the word of a head: memory grows with what was read.
class VolumeWriter {
 public:
  VolumeWriter() = default;
  VolumeWriter(const VolumeWriter&) = delete;
  VolumeWriter& operator=(const VolumeWriter&) = delete;
  /// Leaves no file behind, unless finish() was called.
  virtual ~VolumeWriter() = default;

  /// The next volume, in the head's type and as VolumeFile::read() has it.
  virtual void write(const Voxels& voxels) = 0;
  /// After the last volume: completes the file and gives it its name. Errors as OutputFile's.
  virtual void finish() = 0;
};

class VolumeFile {
 public:
  VolumeFile() = default;
  VolumeFile(const VolumeFile&) = delete;
  VolumeFile& operator=(const VolumeFile&) = delete;
  virtual ~VolumeFile() = default;

  [[nodiscard]] virtual const VolumeHead& head() const noexcept = 0;
  /// "the file 'x.nii'", for messages.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  /// The next volume: channel behind channel, plane behind plane, row behind row. With the last one the file's end is
  /// checked. Throws Interrupted after Ctrl-C.
  [[nodiscard]] virtual Voxels read() = 0;
  /// Opens a file of the same form at once, "-" is standard output: with the same head, byte for byte where the format
  /// allows it, so that type, spacing, orientation and all else is kept. This file must outlive it. Error
  /// invalid_argument if the ending of `path` is another format's.
  [[nodiscard]] virtual std::unique_ptr<VolumeWriter> writer(const std::string& path) = 0;
};

struct VolumeLimits {
  std::int64_t most_pixels = 1'000'000'000;  ///< of a PNG
};

/// Opens a file and reads its head; formats are told apart by their first bytes. "-" is standard input.
[[nodiscard]] std::unique_ptr<VolumeFile> open_volume(const std::string& path, const VolumeLimits& limits = {});

/// A new file of one volume with one channel, its format by its ending. Error invalid_argument for an ending that is
/// none of .nrrd, .nii, .nii.gz, .npy, .tif and .tiff, or a size that the format does not hold.
[[nodiscard]] std::unique_ptr<VolumeWriter> create_volume(const std::string& path, DataType type, const PerAxis& size);

}  // namespace tessera::tool
