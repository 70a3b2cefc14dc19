// patch_match, packed_key_lanes: one work-item a reference, as GPUs want it. See patch_match_packed_key_lanes.h.
#include "ops/patch_match/patch_match_packed_key_lanes.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/patch_match_geometry.h"
#include "mathematics/patch_match_thread_choice.h"
#include "opencl_embedded.h"
#include "ops/patch_match/patch_match_screen.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::opencl {

namespace {

/// LANES of the finders.
constexpr std::int64_t kLanes = 12;
/// What a work-item reads behind the last voxel: lanes of words, and one more.
constexpr std::int64_t kWordsBehind = kLanes / 4 + 2;

bool has_words(const PatchMatch& problem) {
  return problem.type == DataType::uint8 && patch_sum_bytes(problem) == 4;
}

std::size_t to_lines(std::int64_t words) {
  return mathematics::round_up<std::size_t>(static_cast<std::size_t>(words) * sizeof(cl_uint), 256);
}

std::size_t group_of(const DeviceFacts& facts) {
  const std::size_t wanted = facts.info.kind == DeviceKind::cpu ? 16 : 128;
  return std::min(wanted, std::bit_floor(static_cast<std::size_t>(facts.info.max_group_size)));
}

/// Programs for three lengths of stacks, so that few are compiled.
std::int64_t places_of(const PatchMatch& problem) {
  return problem.max_patches <= 4 ? 4 : problem.max_patches <= 16 ? 16 : 64;
}

/// Words of the workspace from this byte on.
MemoryArgument workspace_at(std::size_t byte) {
  return {.place = MemoryArgument::kWorkspace, .type = DataType::int32, .first_element = byte / sizeof(cl_uint)};
}

/// Below so many references a compute unit a work-item for each does not fill a GPU. On an H100 min_and_swap, whose
/// groups share a reference's candidates, was the fastest in five problems with up to 2040 references, up to six
/// times, and not in six with 2324 and more. Of bytes it is ahead for longer, as with CUDA.
constexpr std::int64_t kReferencesOfUnit = 16;

std::vector<Tunable> tunables(const PatchMatch& problem, const backend::Device& device) {
  const std::vector<PatchScreen> screens = PatchScreen::all(problem, native(device).facts());
  if (screens.size() < 2) return {};
  return {{.name = "by_planes",
           .meaning = "1: a group holds as many planes of its tile's region as a patch has at a time; 0: all of them",
           .values = {0, 1},
           .preferred = screens.front().is_by_planes() ? 1 : 0}};
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning& tuning) {
  std::vector<OperatorLaunch> launches = patch_word_launches(problem, native(device));
  std::optional<PatchScreen> screen;
  const auto wanted = tuning.find("by_planes");
  for (const PatchScreen& one : PatchScreen::all(problem, native(device).facts())) {
    if (screen && (wanted == tuning.end() || one.is_by_planes() != (wanted->second == 1))) continue;
    screen = one;
  }
  std::size_t workspace_bytes = PatchWords(problem).size_bytes;
  if (screen && screen->is_by_planes()) {
    for (OperatorLaunch& launch : screen->launches_by_norms(problem, native(device))) {
      launches.push_back(std::move(launch));
    }
    workspace_bytes = PatchScreen::norm_bytes(problem);
  } else if (screen) {
    launches.push_back(screen->launch(problem, native(device)));
  }
  launches.push_back(patch_lanes_launch(problem, native(device), screen.has_value()));
  return std::make_unique<OpenclKernel>(std::move(launches), workspace_bytes);
}

backend::Verdict check(const PatchMatch& problem, const backend::Device& device) {
  return check_patch_lanes(problem, native(device).facts());
}

backend::Verdict pays(const PatchMatch& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (patch_lanes_pay(problem, facts)) return backend::Verdict::yes();
  if (facts.info.kind == DeviceKind::cpu)
    return backend::Verdict::no(
        backend::sentence("'", facts.info.name, "' is a processor, which compares vectors of candidates faster"));
  return check_enough_references(problem, facts);
}

}  // namespace

PatchWords::PatchWords(const PatchMatch& problem) : are_needed(has_words(problem)) {
  if (!are_needed) return;
  const mathematics::PatchGeometry g(problem);
  const std::int64_t plane = g.x.places * g.y.places;
  shape.row_words = ceil_div<std::int64_t>(g.x.size, 4);
  shape.words = shape.row_words * g.y.size * g.z.size + kWordsBehind;
  shape.planes = plane * g.z.size;
  shape.norms = plane * g.z.places + kLanes;
  sums_at = to_lines(shape.words);
  norms_at = sums_at + to_lines(shape.planes);
  size_bytes = norms_at + to_lines(shape.norms);
}

std::vector<OperatorLaunch> patch_word_launches(const PatchMatch& problem, const OpenclDevice& device) {
  const PatchWords words(problem);
  std::vector<OperatorLaunch> launches;
  if (!words.are_needed) return launches;
  const MemoryArgument volume{.place = 0, .type = problem.type};
  const auto add = [&](const char* function, const MemoryArgument& from, std::size_t to, std::int64_t items) {
    OperatorLaunch launch;
    launch.kernel = compile_patch_match(problem, device, function, embedded::patch_match_words);
    launch.memory = {from, workspace_at(to)};
    launch.set_structs(patch_shape(problem), words.shape);
    launch.range = line_of(*launch.kernel, static_cast<std::uint64_t>(items));
    launches.push_back(std::move(launch));
  };
  add("patch_match_words", volume, 0, words.shape.words);
  add("patch_match_plane_sums", volume, words.sums_at, words.shape.planes);
  add("patch_match_norms", workspace_at(words.sums_at), words.norms_at, words.shape.norms);
  return launches;
}

OperatorLaunch patch_lanes_launch(const PatchMatch& problem, const OpenclDevice& device, bool is_second) {
  const PatchWords words(problem);
  const bool is_usual = problem.patch == PerAxis{4, 4, 4} && (problem.type != DataType::uint8 || words.are_needed);
  const std::size_t group = group_of(device.facts());
  OperatorLaunch launch;
  launch.kernel = compile_patch_match(
      problem, device, "patch_match_packed_key_lanes", embedded::patch_match_packed_key_lanes,
      backend::sentence(" -DSHORT_KEYS=", words.are_needed && mathematics::patch_key_is_short(problem) ? 1 : 0,
                        " -DSECOND=", is_second ? 1 : 0, " -DWORDS=", words.are_needed ? 1 : 0,
                        " -DDP4A=", device.facts().has_dp4a ? 1 : 0, " -DPATCH=", is_usual ? 4 : 0,
                        " -DPLACES=", places_of(problem), " -DGROUP=", group));
  launch.memory = patch_memory(problem);
  if (words.are_needed) {
    for (const std::size_t byte : {std::size_t{0}, words.norms_at}) launch.memory.push_back(workspace_at(byte));
    launch.set_structs(patch_shape(problem), words.shape);
  } else {
    launch.set_structs(patch_shape(problem));
  }
  const auto references = static_cast<std::size_t>(problem.references().product());
  launch.range = {1, {mathematics::round_up(references, group), 1, 1}, {group, 1, 1}};
  return launch;
}

backend::Verdict check_enough_references(const PatchMatch& problem, const DeviceFacts& facts) {
  const auto references = problem.references().product();
  const double least = has_words(problem) ? mathematics::kPatchThreadBytes : kReferencesOfUnit;
  const auto enough = static_cast<std::int64_t>(least * facts.info.compute_units);
  if (references >= enough) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("patch_match has ", references, " references, but with fewer than ",
                                                enough, " a work-group for each is faster on '", facts.info.name, "'"));
}

bool patch_lanes_pay(const PatchMatch& problem, const DeviceFacts& facts) {
  if (facts.info.kind == DeviceKind::cpu) return false;
  return has_words(problem) || problem.patch == PerAxis{4, 4, 4};
}

backend::Verdict check_patch_lanes(const PatchMatch& problem, const DeviceFacts& facts) {
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty())
    return backend::Verdict::no(std::move(reason));
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(kLanes * patch_sum_bytes(problem)) * static_cast<std::uint64_t>(group_of(facts));
  if (bytes > facts.info.local_memory_bytes)
    return backend::Verdict::no(backend::sentence("patch_match needs ", bytes, " bytes of local memory, but '",
                                                  facts.info.name, "' has ", facts.info.local_memory_bytes));
  const PatchWords words(problem);
  const std::int64_t items = std::max({problem.references().product(), words.shape.words, words.shape.planes});
  const std::uint64_t group = std::min<std::uint64_t>(group_of(facts), kLineGroup);
  return check_groups("patch_match", ceil_div(static_cast<std::uint64_t>(items), group));
}

backend::Variant<PatchMatch> patch_match_packed_key_lanes() {
  return {.name = "packed_key_lanes",
          .summary = "one work-item a reference, neighbouring candidates in registers (bytes by dp4a where it is)",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::opencl
