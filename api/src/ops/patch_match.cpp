// patch_match in the front half: what a correct problem is, and how much of each operand it touches.
#include <tessera/ops/patch_match.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "../refuse.h"
#include "../stream_dispatch.h"
#include "operand_size.h"
#include "patch_reach.h"
#include "per_axis.h"

namespace tessera {

namespace detail {
namespace {

using backend::sentence;

/// Elements of an operand; more than any address space holds are refused.
std::uint64_t elements(const char* name, const PerAxis& places, std::int64_t each, DataType type) {
  if (is_too_large({places.x, places.y, places.z, each}, type)) {
    refuse(sentence("operand ", name, " of patch_match has ", text_of(places), " * ", each, " elements of ",
                    to_string(type), ", which passes the largest size, ", kLargestOperandBytes, " bytes"));
  }
  return product({places.x, places.y, places.z, each});
}

void check_patch(const PatchMatch& asked) {
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    const std::int64_t side = asked.patch.*kAxes[axis];
    const std::int64_t size = asked.size.*kAxes[axis];
    if (side > size)
      refuse(sentence("patch.", kAxisNames[axis], " of patch_match is ", side, ", but the volume has ", size,
                      " voxels along ", kAxisNames[axis]));
  }
  if (asked.patch.product() > PatchMatch::kLargestPatch)
    refuse(sentence("the patch of patch_match has ", text_of(asked.patch), " = ", asked.patch.product(),
                    " voxels, but may have ", PatchMatch::kLargestPatch, " at most"));
}

/// The references are the volume's, and all that they reach is held.
void check_slab(const PatchMatch& asked) {
  if (asked.slab == PatchSlab()) return;
  const PatchSlab& slab = asked.slab;
  const auto axis = asked.slab_axis();
  PatchMatch whole = asked;
  whole.slab = {};
  const std::int64_t references = whole.references().*axis;
  if (slab.references < 1 || slab.first_reference < 0 || slab.first_reference > references - slab.references)
    refuse(sentence("the slab of patch_match has references ", slab.first_reference, " + ", slab.references,
                    ", but the volume has ", references, " along the axis of slabs"));
  const std::int64_t last_slice = (asked.size.*axis) - 1;
  if (slab.slices < 1 || slab.first_slice < 0 || slab.slices > last_slice + 1 - slab.first_slice)
    refuse(sentence("the slab of patch_match holds slices ", slab.first_slice, " + ", slab.slices,
                    ", but the volume has ", last_slice + 1));
  const PatchReach reach = patch_reach(whole, slab.first_reference, slab.references);
  if (slab.first_slice > reach.first || slab.first_slice + slab.slices < reach.end)
    refuse(sentence("the slab of patch_match holds slices ", slab.first_slice, " to ",
                    slab.first_slice + slab.slices - 1, ", but its references reach from ", reach.first, " to ",
                    reach.end - 1));
}

}  // namespace

template <>
struct OperatorTraits<PatchMatch> {
  static PatchMatch checked(const PatchMatch& asked) {
    check_axes(PatchMatch::kName, "size", asked.size);
    check_axes(PatchMatch::kName, "patch", asked.patch);
    check_axes(PatchMatch::kName, "window", asked.window);
    check_axes(PatchMatch::kName, "step", asked.step);
    if (asked.type != DataType::uint8 && asked.type != DataType::uint16 && asked.type != DataType::float32)
      refuse(sentence("the type of patch_match is ", to_string(asked.type), ", but must be uint8, uint16 or float32"));
    // Variants may hold a distance, or the length of a patch, for every voxel.
    (void)elements("volume", asked.size, 1, DataType::int64);
    check_patch(asked);
    check_slab(asked);
    if (asked.max_patches < 1 || asked.max_patches > PatchMatch::kMostPatches)
      refuse(sentence("max_patches of patch_match is ", asked.max_patches, ", but must be from 1 to ",
                      PatchMatch::kMostPatches));
    if (std::isnan(asked.threshold)) refuse("threshold of patch_match is nan, but must be a number or an infinity");
    for (const OperandSpec& operand : operands(asked, {})) (void)operand;
    return asked;
  }

  static std::array<OperandSpec, 4> operands(const PatchMatch& p, const PatchMatch::Operands& operands) {
    const PerAxis references = p.references();
    return {
        OperandSpec{"volume", &operands.volume.view(), p.type, elements("volume", p.held(), 1, p.type), Access::read},
        OperandSpec{"counts", &operands.counts.view(), DataType::int32,
                    elements("counts", references, 1, DataType::int32), Access::write},
        OperandSpec{"distances", &operands.distances.view(), p.distance_type(),
                    elements("distances", references, p.max_patches, p.distance_type()), Access::write},
        OperandSpec{"indices", &operands.indices.view(), DataType::int64,
                    elements("indices", references, p.max_patches, DataType::int64), Access::write}};
  }

  static std::array<HostMemory, 4> host_operands(const PatchMatch::HostOperands& o) {
    return {o.volume.memory(), o.counts.memory(), o.distances.memory(), o.indices.memory()};
  }

  static std::string key(const PatchMatch& p) {
    const PatchSlab& slab = p.slab;
    return sentence("size=", text_of(p.size), ",patch=", text_of(p.patch), ",window=", text_of(p.window),
                    ",step=", text_of(p.step), ",max_patches=", p.max_patches, ",threshold=", p.threshold,
                    ",type=", to_string(p.type)) +
           (slab == PatchSlab() ? ""
                                : sentence(",slab=", slab.first_slice, "+", slab.slices, ":", slab.first_reference, "+",
                                           slab.references));
  }

  static std::string shape_class(const PatchMatch& p) {
    return ShapeClass()
        .exactly("type", to_string(p.type))
        .exactly("patch", text_of(p.patch))
        .exactly("window", text_of(p.window))
        .exactly("step", text_of(p.step))
        .exactly("max_patches", p.max_patches)
        .exactly("is_slab", p.slab != PatchSlab())
        .about("size_x", p.size.x)
        .about("size_y", p.size.y)
        .about("size_z", p.size.z)
        .take();
  }
};

}  // namespace detail

TESSERA_INSTANTIATE_OPERATOR(PatchMatch)
TESSERA_INSTANTIATE_STREAM(PatchMatch)

}  // namespace tessera
