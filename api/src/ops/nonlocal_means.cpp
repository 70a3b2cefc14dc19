// nonlocal_means in the front half: usual parameters, what a correct problem is, and how much of each operand it
// touches.
#include <tessera/ops/nonlocal_means.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "../operator_dispatch.h"
#include "../refuse.h"
#include "operand_size.h"
#include "per_axis.h"

namespace tessera {

NonlocalMeans with_usual_parameters(const NonlocalMeans& problem) {
  NonlocalMeans filled = problem;
  const bool is_image = problem.size.z == 1;
  for (const auto axis : detail::kAxes) {
    const bool is_flat = problem.size.*axis == 1;
    if (problem.patch.*axis == 0) filled.patch.*axis = is_flat ? 1 : is_image ? 7 : 3;
    if (problem.window.*axis == 0) filled.window.*axis = is_flat ? 1 : is_image ? 21 : 11;
  }
  if (problem.strength == 0) filled.strength = NonlocalMeans::kUsualStrength;
  return filled;
}

namespace detail {
namespace {

using backend::sentence;

void check_patch(const NonlocalMeans& p) {
  check_axes(NonlocalMeans::kName, "patch", p.patch);
  const PerAxis& side = p.patch;
  constexpr std::int64_t kMost = NonlocalMeans::kLargestPatch;
  // Each side by itself first: their product may overflow.
  if (std::max({side.x, side.y, side.z}) > kMost || side.product() > kMost)
    refuse(sentence("the patch of nonlocal_means has ", text_of(side), " voxels, but may have ", kMost,
                    " at most altogether"));
}

void check_window(const NonlocalMeans& p) {
  check_axes(NonlocalMeans::kName, "window", p.window);
  std::int64_t candidates = 1;
  for (const auto axis : kAxes) {
    if (__builtin_mul_overflow(candidates, std::min(p.window.*axis, p.size.*axis), &candidates) ||
        candidates > NonlocalMeans::kMostCandidates)
      refuse(sentence("the window of nonlocal_means, ", text_of(p.window), " in a volume of ", text_of(p.size),
                      ", has more than ", NonlocalMeans::kMostCandidates, " candidates, the most that are summed"));
  }
}

/// Variants hold a whole number of 32 bits for every voxel of the volume and its mirrored borders.
void check_size(const NonlocalMeans& p) {
  std::array<std::int64_t, 3> with_borders{};
  bool is_too_long = false;
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis)
    is_too_long |= __builtin_add_overflow(p.size.*kAxes[axis], p.patch.*kAxes[axis] - 1, &with_borders[axis]);
  if (is_too_long || is_too_large({p.channels, with_borders[0], with_borders[1], with_borders[2]}, DataType::int32))
    refuse(sentence("operand volume of nonlocal_means has ", p.channels, " * ", text_of(p.size),
                    " voxels, which with borders for patches of ", text_of(p.patch),
                    " and 4 bytes each pass the largest size, ", kLargestOperandBytes, " bytes"));
}

}  // namespace

template <>
struct OperatorTraits<NonlocalMeans> {
  static NonlocalMeans checked(const NonlocalMeans& asked) {
    check_axes(NonlocalMeans::kName, "size", asked.size);
    if (asked.channels != 1 && asked.channels != 3)
      refuse(sentence("channels of nonlocal_means is ", asked.channels, ", but must be 1 or 3"));
    if (asked.type != DataType::uint8 && asked.type != DataType::uint16 && asked.type != DataType::float32)
      refuse(
          sentence("the type of nonlocal_means is ", to_string(asked.type), ", but must be uint8, uint16 or float32"));
    if (!std::isfinite(asked.sigma) || asked.sigma < 0)
      refuse(sentence("sigma of nonlocal_means is ", asked.sigma, ", but must be finite and at least 0"));
    if (!std::isfinite(asked.strength) || asked.strength < 0)
      refuse(sentence("strength of nonlocal_means is ", asked.strength, ", but must be finite and at least 0"));
    const NonlocalMeans filled = with_usual_parameters(asked);
    check_patch(filled);
    check_size(filled);
    check_window(filled);
    return filled;
  }

  static std::array<OperandSpec, 2> operands(const NonlocalMeans& p, const NonlocalMeans::Operands& operands) {
    const std::uint64_t voxels = product({p.channels, p.size.x, p.size.y, p.size.z});
    return {OperandSpec{"volume", &operands.volume.view(), p.type, voxels, Access::read},
            OperandSpec{"result", &operands.result.view(), p.type, voxels, Access::write}};
  }

  static std::string key(const NonlocalMeans& p) {
    return sentence("size=", text_of(p.size), ",channels=", p.channels, ",patch=", text_of(p.patch),
                    ",window=", text_of(p.window), ",is_filtered=", p.sigma != 0, ",type=", to_string(p.type));
  }

  static std::string shape_class(const NonlocalMeans& p) {
    return ShapeClass()
        .exactly("type", to_string(p.type))
        .exactly("channels", p.channels)
        .exactly("patch", text_of(p.patch))
        .exactly("window", text_of(p.window))
        .exactly("is_filtered", p.sigma != 0)
        .about("size_x", p.size.x)
        .about("size_y", p.size.y)
        .about("size_z", p.size.z)
        .take();
  }
};

}  // namespace detail

TESSERA_INSTANTIATE_OPERATOR(NonlocalMeans)

}  // namespace tessera
