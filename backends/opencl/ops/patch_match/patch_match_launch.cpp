// Operands, options and groups of patch_match's launches.
#include "ops/patch_match/patch_match_launch.h"

#include <algorithm>
#include <limits>

#include "backend/sentence.h"
#include "mathematics/patch_match_geometry.h"

namespace tessera::opencl {

PatchShape patch_shape(const PatchMatch& problem) noexcept {
  const mathematics::PatchGeometry geometry(problem);
  PatchShape shape{};
  const mathematics::PatchAxis* const axes[] = {&geometry.x, &geometry.y, &geometry.z};
  for (int i = 0; i < 3; ++i) {
    shape.size[i] = axes[i]->size;
    shape.patch[i] = axes[i]->patch;
    shape.places[i] = axes[i]->places;
    shape.window[i] = axes[i]->window;
    shape.step[i] = axes[i]->step;
    shape.references[i] = axes[i]->references;
    shape.start[i] = axes[i]->start;
    shape.last_place[i] = axes[i]->last_place;
  }
  shape.first_voxel = geometry.first_voxel;
  shape.largest = mathematics::largest_kept_distance<std::int64_t>(problem);
  shape.largest_float = mathematics::largest_kept_distance<float>(problem);
  shape.max_patches = problem.max_patches;
  shape.number_bits = mathematics::patch_key_bits(problem).number;
  return shape;
}

namespace {

/// May distances be summed in 32 bits?
bool is_narrow(const PatchMatch& problem) {
  return problem.type == DataType::uint8 &&
         mathematics::largest_patch_distance(problem) <= std::numeric_limits<std::uint32_t>::max();
}

int type_number(DataType type) {
  return type == DataType::uint8 ? 0 : type == DataType::uint16 ? 1 : 2;
}

}  // namespace

std::int64_t patch_sum_bytes(const PatchMatch& problem) noexcept {
  return problem.type == DataType::float32 || is_narrow(problem) ? 4 : 8;
}

std::unique_ptr<CompiledKernel> compile_patch_match(const PatchMatch& problem, const OpenclDevice& device,
                                                    const char* function, std::string_view text,
                                                    const std::string& more_options) {
  return device.kernel({.name = function,
                        .text = std::string(text),
                        .options = backend::sentence("-cl-std=CL1.2 -DTYPE=", type_number(problem.type),
                                                     " -DNARROW=", is_narrow(problem) ? 1 : 0, more_options)});
}

std::vector<MemoryArgument> patch_memory(const PatchMatch& problem) {
  return {{.place = 0, .type = problem.type},
          {.place = 1, .type = DataType::int32},
          {.place = 2, .type = problem.distance_type()},
          {.place = 3, .type = DataType::int64}};
}

OperatorLaunch patch_launch(const PatchMatch& problem, const OpenclDevice& device, const char* function,
                            std::string_view text, const std::string& more_options) {
  OperatorLaunch launch;
  launch.kernel = compile_patch_match(problem, device, function, text, more_options);
  launch.memory = patch_memory(problem);
  launch.set_structs(patch_shape(problem));
  return launch;
}

OperatorLaunch patch_launch_of_groups(const PatchMatch& problem, const OpenclDevice& device, const char* function,
                                      std::string_view text, std::int64_t group, const std::string& more_options) {
  OperatorLaunch launch = patch_launch(problem, device, function, text,
                                       backend::sentence(" -DGROUP=", group, " -DPASS=", kPatchPass, more_options));
  const auto items = static_cast<std::size_t>(group);
  launch.range = {1, {static_cast<std::size_t>(problem.references().product()) * items, 1, 1}, {items, 1, 1}};
  return launch;
}

backend::Verdict check_patch_groups(const PatchMatch& problem, const DeviceFacts& facts,
                                    std::uint64_t candidate_bytes) {
  constexpr std::uint64_t kStackBytes = 16 * PatchMatch::kMostPatches;
  constexpr std::uint64_t kBeside = 64;  // counts, and what a compiler aligns
  const std::uint64_t bytes = kStackBytes + kPatchPass * candidate_bytes + kBeside;
  if (bytes > facts.info.local_memory_bytes)
    return backend::Verdict::no(backend::sentence("patch_match needs ", bytes, " bytes of local memory, but '",
                                                  facts.info.name, "' has ", facts.info.local_memory_bytes));
  return check_groups("patch_match", static_cast<std::uint64_t>(problem.references().product()));
}

Tunable patch_threads(const DeviceFacts& facts) {
  Tunable threads{.name = "threads", .meaning = "work-items of a reference's group", .values = {}};
  for (const std::int64_t value : {1, 16, 64, 256}) {
    if (static_cast<std::uint64_t>(value) <= facts.info.max_group_size) threads.values.push_back(value);
  }
  const std::int64_t wanted = facts.info.kind == DeviceKind::cpu ? 16 : 64;
  threads.preferred = std::min(wanted, threads.values.back());
  return threads;
}

}  // namespace tessera::opencl
