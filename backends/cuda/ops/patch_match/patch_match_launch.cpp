// Operands, names and groups of patch_match's launches.
#include "ops/patch_match/patch_match_launch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/sentence.h"

namespace tessera::cuda {

PatchArguments patch_arguments(const PatchMatch& problem) noexcept {
  const mathematics::PatchGeometry geometry(problem);
  PatchArguments arguments{};
  const mathematics::PatchAxis* const axes[] = {&geometry.x, &geometry.y, &geometry.z};
  for (int i = 0; i < 3; ++i) {
    arguments.size[i] = axes[i]->size;
    arguments.patch[i] = axes[i]->patch;
    arguments.places[i] = axes[i]->places;
    arguments.window[i] = axes[i]->window;
    arguments.step[i] = axes[i]->step;
    arguments.references[i] = axes[i]->references;
    arguments.start[i] = axes[i]->start;
    arguments.last_place[i] = axes[i]->last_place;
  }
  arguments.first_voxel = geometry.first_voxel;
  arguments.largest = mathematics::largest_kept_distance<std::int64_t>(problem);
  arguments.largest_float = mathematics::largest_kept_distance<float>(problem);
  arguments.first_unkept_float =
      arguments.largest_float < 0 ? 0 : std::nextafter(arguments.largest_float, std::numeric_limits<float>::infinity());
  arguments.max_patches = problem.max_patches;
  arguments.number_bits = mathematics::patch_key_bits(problem).number;
  return arguments;
}

std::string patch_types(const PatchMatch& problem) {
  const bool is_wide = problem.type == DataType::uint8 && mathematics::largest_patch_distance(problem) >
                                                              std::int64_t{std::numeric_limits<std::uint32_t>::max()};
  return backend::sentence(to_string(problem.type), is_wide ? "_wide" : "");
}

PatchArguments with_operands(const PatchArguments& arguments, std::span<const backend::Slice> operands) noexcept {
  PatchArguments filled = arguments;
  filled.volume = pointer_to<const void>(operands[0]);
  filled.counts = pointer_to<std::int32_t>(operands[1]);
  filled.distances = pointer_to<void>(operands[2]);
  filled.indices = pointer_to<std::int64_t>(operands[3]);
  return filled;
}

LaunchGrid patch_line(std::int64_t threads) noexcept {
  LaunchGrid grid;
  grid.groups[0] = static_cast<unsigned>(mathematics::ceil_div<std::int64_t>(threads, kPatchThreads));
  grid.group_size[0] = kPatchThreads;
  return grid;
}

backend::Verdict check_patch_groups(std::int64_t groups, const backend::Device& device) {
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  if (static_cast<std::uint64_t>(groups) <= limit) return backend::Verdict::yes();
  return backend::Verdict::no(
      backend::sentence("patch_match takes ", groups, " groups, but a launch has at most ", limit));
}

backend::Verdict check_group_of_reference(const PatchMatch& problem, const backend::Device& device) {
  return check_patch_groups(problem.references().product(), device);
}

backend::Verdict check_thread_of_reference(const PatchMatch& problem, const backend::Device& device) {
  return check_patch_groups(mathematics::ceil_div<std::int64_t>(problem.references().product(), kPatchThreads), device);
}

Tunable patch_threads() {
  // A warp alone needs no barriers of the group: with 32 threads min_and_swap takes 27.7 ms in place of 45.3 with 64
  // (352 x 240 x 150 bytes, window 11, 16 kept, on an H200), and insertion a tenth less.
  return {.name = "threads",
          .meaning = "threads of a reference's group",
          .values = {32, 64, 128, kPatchMostThreads},
          .preferred = 32};
}

LaunchGrid groups_of_references(const PatchMatch& problem, std::int64_t threads) noexcept {
  LaunchGrid grid;
  grid.groups[0] = static_cast<unsigned>(problem.references().product());
  grid.group_size[0] = static_cast<unsigned>(threads);
  return grid;
}

}  // namespace tessera::cuda
