// denoise in the front half: what a correct problem is, and how much of each operand it touches.
#include <tessera/ops/denoise.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "../refuse.h"
#include "../stream_dispatch.h"
#include "denoise_check.h"
#include "operand_size.h"
#include "per_axis.h"

namespace tessera {

namespace detail {
namespace {

using backend::sentence;

/// Elements of an operand; more than any address space holds are refused.
std::uint64_t voxels(const char* name, const Denoise& p, DataType type) {
  if (is_too_large({p.channels, p.size.x, p.size.y, p.size.z}, type)) {
    refuse(sentence("operand ", name, " of denoise has ", p.channels, " * ", text_of(p.size), " elements of ",
                    to_string(type), ", which passes the largest size, ", kLargestOperandBytes, " bytes"));
  }
  return product({p.channels, p.size.x, p.size.y, p.size.z});
}

void check_sides(const std::string& name, const Denoise& p, const DenoiseStep& step) {
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    const std::int64_t side = step.patch.*kAxes[axis];
    const std::int64_t size = p.size.*kAxes[axis];
    const std::string of = sentence(name, ".patch.", kAxisNames[axis], " of denoise is ", side);
    if (side > size)
      refuse(sentence(of, ", but the volume has ", size, " voxels along ", kAxisNames[axis], ": ", size - side + 1,
                      " places for a patch, where there must be 1"));
    if (side > Denoise::kLargestSide) refuse(sentence(of, ", but may be ", Denoise::kLargestSide, " at most"));
    if (step.transform == PatchTransform::haar && !std::has_single_bit(static_cast<std::uint64_t>(side)))
      refuse(sentence(of, ", but haar halves it: it must be 1, 2, 4, 8 or 16"));
  }
  if (step.patch.product() > Denoise::kLargestPatch)
    refuse(sentence("the patch of ", name, " of denoise has ", text_of(step.patch), " = ", step.patch.product(),
                    " voxels, but may have ", Denoise::kLargestPatch, " at most"));
}

void check_step(const std::string& name, const Denoise& p, const DenoiseStep& step) {
  check_axes(Denoise::kName, name + ".patch", step.patch);
  check_axes(Denoise::kName, name + ".window", step.window);
  check_axes(Denoise::kName, name + ".step", step.step);
  if (step.transform > PatchTransform::dct)
    refuse(sentence(name, ".transform of denoise is the number ", static_cast<int>(step.transform),
                    ", but must be of_profile, haar or dct"));
  check_sides(name, p, step);
  if (step.max_patches < 1 || step.max_patches > PatchMatch::kMostPatches)
    refuse(sentence(name, ".max_patches of denoise is ", step.max_patches, ", but must be from 1 to ",
                    PatchMatch::kMostPatches));
  if (!(step.threshold >= 0))
    refuse(sentence(name, ".threshold of denoise is ", step.threshold, ", but must be at least 0"));
  if (!(step.kaiser >= 0 && step.kaiser <= Denoise::kLargestKaiser))
    refuse(sentence(name, ".kaiser of denoise is ", step.kaiser, ", but must be from 0 to ", Denoise::kLargestKaiser));
  if (p.most_estimates(step) > static_cast<double>(Denoise::kMostEstimates))
    refuse(sentence("window ", text_of(step.window), " and step ", text_of(step.step), " of ", name,
                    " of denoise give a voxel ", p.most_estimates(step), " estimates, but ", Denoise::kMostEstimates,
                    " are the most that are summed"));
}

std::string key_of(const DenoiseStep& step) {
  return sentence(text_of(step.patch), ";", text_of(step.window), ";", text_of(step.step), ";", step.max_patches, ";",
                  step.threshold, ";", to_string(step.transform));
}

std::string class_of(const DenoiseStep& step) {
  return sentence(text_of(step.patch), ";", text_of(step.window), ";", text_of(step.step), ";", step.max_patches, ";",
                  to_string(step.transform));
}

}  // namespace

template <>
struct OperatorTraits<Denoise> {
  static Denoise checked(const Denoise& asked) {
    check_axes(Denoise::kName, "size", asked.size);
    if (asked.channels != 1 && asked.channels != 3)
      refuse(sentence("channels of denoise is ", asked.channels, ", but must be 1 or 3"));
    if (asked.type != DataType::uint8 && asked.type != DataType::uint16 && asked.type != DataType::float32)
      refuse(sentence("the type of denoise is ", to_string(asked.type), ", but must be uint8, uint16 or float32"));
    // Variants hold sums of 8 bytes for every voxel.
    (void)voxels("volume", asked, DataType::int64);
    if (!std::isfinite(asked.sigma) || asked.sigma < 0)
      refuse(sentence("sigma of denoise is ", asked.sigma, ", but must be finite and at least 0"));
    if (!std::isfinite(asked.range) || asked.range < 0)
      refuse(sentence("range of denoise is ", asked.range, ", but must be finite and at least 0"));
    if (asked.stage > DenoiseStage::wiener)
      refuse(sentence("stage of denoise is the number ", static_cast<int>(asked.stage),
                      ", but must be both, hard_threshold or wiener"));
    if (asked.profile > DenoiseProfile::high)
      refuse(sentence("profile of denoise is the number ", static_cast<int>(asked.profile),
                      ", but must be fast, normal or high"));
    const Denoise filled = with_profile(asked);
    if (filled.has(DenoiseStage::hard_threshold)) check_step("hard", filled, filled.hard);
    if (filled.has(DenoiseStage::wiener)) check_step("wiener", filled, filled.wiener);
    if (!std::isfinite(filled.shrinkage) || filled.shrinkage < 0)
      refuse(sentence("shrinkage of denoise is ", filled.shrinkage, ", but must be finite and at least 0"));
    return filled;
  }

  static std::array<OperandSpec, 3> operands(const Denoise& p, const Denoise::Operands& operands) {
    return {OperandSpec{"volume", &operands.volume.view(), p.type, voxels("volume", p, p.type), Access::read},
            OperandSpec{"basic", &operands.basic.view(), p.type, voxels("basic", p, p.type),
                        p.stage == DenoiseStage::wiener ? Access::read : Access::none},
            OperandSpec{"result", &operands.result.view(), p.type, voxels("result", p, p.type), Access::write}};
  }

  static std::array<HostMemory, 3> host_operands(const Denoise::HostOperands& o) {
    return {o.volume.memory(), o.basic.memory(), o.result.memory()};
  }

  static std::string key(const Denoise& p) {
    return sentence("size=", text_of(p.size), ",channels=", p.channels, ",sigma=", p.sigma,
                    ",stage=", to_string(p.stage), ",hard=", key_of(p.hard), ",wiener=", key_of(p.wiener),
                    ",shrinkage=", p.shrinkage, ",type=", to_string(p.type));
  }

  static std::string shape_class(const Denoise& p) {
    return ShapeClass()
        .exactly("type", to_string(p.type))
        .exactly("channels", p.channels)
        .exactly("stage", to_string(p.stage))
        .exactly("hard", p.has(DenoiseStage::hard_threshold) ? class_of(p.hard) : "none")
        .exactly("wiener", p.has(DenoiseStage::wiener) ? class_of(p.wiener) : "none")
        .exactly("is_filtered", p.sigma != 0)
        .about("size_x", p.size.x)
        .about("size_y", p.size.y)
        .about("size_z", p.size.z)
        .take();
  }
};

Denoise checked_denoise(const Denoise& asked) {
  return OperatorTraits<Denoise>::checked(asked);
}

}  // namespace detail

TESSERA_INSTANTIATE_OPERATOR(Denoise)
TESSERA_INSTANTIATE_STREAM(Denoise)

}  // namespace tessera
