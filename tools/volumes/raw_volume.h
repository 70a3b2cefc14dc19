// Volumes whose voxels stand as they are behind a head: NPY, NRRD and NIfTI-1, and the three heads. A file that is
// written anew begins with the bytes of the head that was read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tools/input/byte_source.h"
#include "tools/volumes/volume_file.h"

namespace tessera::tool {

/// What of a file is packed with gzip.
enum class Packing : std::uint8_t { none, whole, voxels };

struct RawHead {
  VolumeHead volume = {};
  std::string bytes = {};  ///< all that stands before the voxels, unpacked
  bool high_byte_first = false;
  Packing packing = Packing::none;
};

/// Lengths in the order x, y, z; what is left is frames. Refuses, through `source`, a length of 0, and more bytes than
/// 63 bits count.
void set_lengths(VolumeHead& head, std::span<const std::uint64_t> lengths, const ByteSource& source);

/// Each reads a head that its first bytes announce, up to the first voxel.
[[nodiscard]] RawHead read_npy_volume_head(ByteSource& source);
[[nodiscard]] RawHead read_nrrd_head(ByteSource& source);
[[nodiscard]] RawHead read_nifti_head(ByteSource& source);

/// Heads of new files, for one volume of one channel. `path` is for messages.
[[nodiscard]] RawHead new_npy_head(DataType type, const PerAxis& size);
[[nodiscard]] RawHead new_nrrd_head(DataType type, const PerAxis& size);
[[nodiscard]] RawHead new_nifti_head(DataType type, const PerAxis& size, const std::string& path);

class RawVolume : public VolumeFile {
 public:
  /// `source` stands behind the head. Refuses a plain file whose size is not what the head promises.
  RawVolume(std::unique_ptr<ByteSource> source, RawHead head);

  [[nodiscard]] const VolumeHead& head() const noexcept override { return head_.volume; }
  [[nodiscard]] const std::string& name() const noexcept override { return source_->name(); }
  [[nodiscard]] Voxels read() override;
  [[nodiscard]] std::unique_ptr<VolumeWriter> writer(const std::string& path) override;

 private:
  template <class T>
  void fill(std::vector<T>& numbers);
  [[nodiscard]] std::string promise() const;
  [[nodiscard]] std::uint64_t voxel_bytes() const;

  std::unique_ptr<ByteSource> source_;
  RawHead head_;
  std::int64_t frames_read_ = 0;
};

/// Writes the head at once.
[[nodiscard]] std::unique_ptr<VolumeWriter> write_raw_volume(const std::string& path, const RawHead& head);

}  // namespace tessera::tool
