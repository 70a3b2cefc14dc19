// How a volume is cut for denoise, so that pieces that are denoised by themselves give the bits of the whole. stream()
// does it for you; this is for who wants to know what it will do, or to run the pieces otherwise, on several devices.
//
//   held_first     first                 end      held_end      Planes along one axis. A piece is a smaller volume; of
//   |x . . . . . . |#####################| . . . . . . x|       its result only its own planes (#) count. Around them
//                                                               it holds those that decide about them (.).
//
// A stack holds patches of its reference's window. It is the whole volume's stack if all that the window reaches is
// held; so a voxel is right if each reference whose window reaches it has a window that is held as a whole, and stands
// where it does in the whole. The outermost plane (x) of an end that is not the volume's has no part in that.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/export.h>
#include <tessera/ops/denoise.h>
#include <tessera/stream.h>

namespace tessera {

/// Planes along the axis of a DenoisePieces, counted in the whole volume.
struct DenoisePiece {
  std::int64_t first = 0;       ///< of its own planes, whose voxels it gives
  std::int64_t end = 0;         ///< the one behind the last of them
  std::int64_t held_first = 0;  ///< of the planes that it is computed from
  std::int64_t held_end = 0;

  [[nodiscard]] constexpr std::int64_t own() const noexcept { return end - first; }
  [[nodiscard]] constexpr std::int64_t held() const noexcept { return held_end - held_first; }

  bool operator==(const DenoisePiece&) const = default;
};

/// A problem in pieces along one axis. Own planes are cut so that each plane is one piece's own.
///
/// A step is cut, the hard threshold or the Wiener filter: what pieces of both at once would give is not the whole's,
/// because the second step of floats counts in units of the whole basic estimate. So stage both is one piece, but for a
/// sigma of 0, where the result is the volume.
class TESSERA_API DenoisePieces {
 public:
  /// Into pieces of up to so many own planes, nearly equal ones; of least() where that is more. Errors:
  /// invalid_argument for a wrong problem or axis, fewer planes than 1, or stage both in several pieces.
  DenoisePieces(const Denoise& problem, std::int64_t PerAxis::*axis, std::int64_t planes);

  /// With all its parameters.
  [[nodiscard]] const Denoise& whole() const noexcept { return whole_; }
  [[nodiscard]] std::int64_t PerAxis::*axis() const noexcept { return axis_; }
  /// Planes of the volume.
  [[nodiscard]] std::int64_t planes() const noexcept { return whole_.size.*axis_; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  /// Number 0 to count() - 1, in order of planes.
  [[nodiscard]] DenoisePiece piece(std::int64_t number) const noexcept;
  /// Planes that the largest holds.
  [[nodiscard]] std::int64_t most_held() const noexcept;
  /// Planes that a piece holds beside its own at each end, at most.
  [[nodiscard]] std::int64_t margin() const noexcept { return reach_ + step_ - 1; }
  /// The least own planes: with fewer a piece might count in other units than the whole.
  [[nodiscard]] std::int64_t least() const noexcept { return least_; }

  /// Any piece: from this own plane on and with so many of them, as far as there are. Where less than least() would be
  /// left, it has that many, and begins before `first` at the volume's end.
  [[nodiscard]] DenoisePiece cut(std::int64_t first, std::int64_t own) const noexcept;
  /// The problem of a piece: of a volume of the planes that it holds.
  [[nodiscard]] Denoise problem_of(const DenoisePiece& piece) const;
  /// A plane, counted in the piece, of which no own voxel depends; -1 if the piece holds the whole volume. Of float32 a
  /// voxel of it must have the largest finite magnitude that the whole volume has, of the Wiener filter that of volume
  /// or basic estimate: by it the operator chooses its units.
  [[nodiscard]] std::int64_t spare_plane(const DenoisePiece& piece) const noexcept;

 private:
  Denoise whole_;
  std::int64_t PerAxis::*axis_;
  std::int64_t step_ = 1;
  std::int64_t reach_ = 0;
  std::int64_t least_ = 1;
  std::int64_t count_ = 1;
};

/// What stream() does with a problem.
struct DenoiseStreamPlan {
  std::vector<DenoisePieces> passes;  ///< once over the volume for each: the problem in one piece, or step after step
  bool copies_overlap = false;        ///< two pieces are on the device at a time, one is copied beside the other's run
  std::uint64_t memory_bytes = 0;     ///< that buffers and workspaces take on the device
  std::uint64_t host_bytes = 0;       ///< that the basic estimate takes in the host's memory
};

/// How stream() would cut this problem with these options, of what is free on the device now. Runs nothing. Errors as
/// those of stream().
[[nodiscard]] TESSERA_API DenoiseStreamPlan plan_stream(const Device& device, const Denoise& problem,
                                                        const StreamOptions& options = {});

}  // namespace tessera
