// The operator patch_match: for each reference patch of a volume, the patches around it that look most like it.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include <tessera/buffer.h>
#include <tessera/host_operand.h>
#include <tessera/types.h>

namespace tessera {

/// A number for each axis of a volume. x runs along what lies side by side in memory.
struct PerAxis {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;

  [[nodiscard]] constexpr std::int64_t product() const noexcept { return x * y * z; }
  bool operator==(const PerAxis&) const = default;
};

/// Part of a volume along its slowest axis: z, or of an image y, or of a line x.
struct PatchSlab {
  std::int64_t first_slice = 0;      ///< that the operand `volume` holds
  std::int64_t slices = 0;           ///< 0: the volume is whole
  std::int64_t first_reference = 0;  ///< along that axis, counted in the whole volume
  std::int64_t references = 0;       ///< along that axis

  bool operator==(const PatchSlab&) const = default;
};

/// Compares patches of a volume, boxes of `patch` voxels that lie wholly inside, each named by its first voxel (x, y,
/// z) or that voxel's index (z * size.y + y) * size.x + x.
///
/// References stand at 0, step, 2 step and so on along each axis, and at the last place that a patch has there,
/// size - patch. Reference (i, j, k), in order of places, is number (k * references().y + j) * references().x + i.
///
/// Candidates of a reference at x are the patches from x - window.x / 2 (rounded down) to window.x places on, along
/// each axis; those that would reach out of the volume are left out. The reference is one of its own candidates.
///
///   distance = sum over the patch's z of ( sum over its y of ( sum over its x of (reference - candidate)^2 ) )
///
/// is an exact whole number for integers. For float32 every difference, square and sum is rounded to float32, and each
/// sum is taken from its first term to its last: the result has the same bits on every device that keeps subnormal
/// numbers.
///
/// A candidate is kept if its distance is at most `threshold` and finite; of these the `max_patches` with the least
/// distance, of equal ones those with the lower index. So a reference that holds a NaN or an infinity keeps nothing,
/// and the reference comes first but for patches that equal it and have a lower index: where there are `max_patches` of
/// those, it is not kept itself.
struct PatchMatch {
  static constexpr std::string_view kName = "patch_match";
  static constexpr std::int64_t kMostPatches = 64;
  /// Voxels of a patch: sums of squares of 16 bits stay below 2^52.
  static constexpr std::int64_t kLargestPatch = std::int64_t{1} << 20;

  PerAxis size = {};              ///< voxels of the volume, at least 1 along each axis; z is 1 for an image
  PerAxis patch = {};             ///< voxels of a patch, 1 to `size`; up to kLargestPatch altogether
  PerAxis window = {};            ///< candidates along each axis, at least 1; may be larger than the volume
  PerAxis step = {};              ///< from one reference to the next, at least 1
  std::int64_t max_patches = 16;  ///< places of a stack, 1 to kMostPatches
  double threshold = std::numeric_limits<double>::infinity();  ///< the largest distance that is kept; below 0: none is
  DataType type = DataType::float32;                           ///< of the volume: uint8, uint16 or float32
  /// Only these references, from a volume of which only these slices are there, all that their windows and patches
  /// reach among them. Indices are still the whole volume's. stream() does this for you.
  PatchSlab slab = {};

  /// The axis of slabs.
  [[nodiscard]] constexpr std::int64_t PerAxis::*slab_axis() const noexcept {
    if (size.z > 1) return &PerAxis::z;
    return size.y > 1 ? &PerAxis::y : &PerAxis::x;
  }
  /// Voxels that the operand holds: all, or those of the slab.
  [[nodiscard]] constexpr PerAxis held() const noexcept {
    PerAxis voxels = size;
    if (slab.slices != 0) voxels.*slab_axis() = slab.slices;
    return voxels;
  }
  /// References along each axis; those of the slab.
  [[nodiscard]] constexpr PerAxis references() const noexcept {
    const auto along = [](std::int64_t places, std::int64_t apart) {
      return (places - 1) / apart + ((places - 1) % apart != 0 ? 1 : 0) + 1;
    };
    PerAxis count{along(size.x - patch.x + 1, step.x), along(size.y - patch.y + 1, step.y),
                  along(size.z - patch.z + 1, step.z)};
    if (slab.slices != 0) count.*slab_axis() = slab.references;
    return count;
  }
  /// Of `distances`: int64 for integers, float32 for float32.
  [[nodiscard]] constexpr DataType distance_type() const noexcept {
    return type == DataType::float32 ? DataType::float32 : DataType::int64;
  }

  /// What it is run with. Stacks of `max_patches` places lie one behind the other in the order of references. No
  /// operand may overlap another.
  struct Operands {
    ConstOperand volume;  ///< held().z x held().y x held().x
    Operand counts;       ///< of each reference, int32: how many patches it keeps
    Operand distances;    ///< stacks, ascending; infinity or the largest int64 in places that are left
    Operand indices;      ///< stacks, int64: each patch's first voxel; -1 in places that are left
  };
  /// The same for stream(), in the host's memory.
  struct HostOperands {
    ConstHostOperand volume;
    HostOperand counts;
    HostOperand distances;
    HostOperand indices;
  };

  bool operator==(const PatchMatch&) const = default;
};

}  // namespace tessera
