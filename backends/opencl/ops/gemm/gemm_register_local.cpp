// gemm, register_local: a tile of C in registers, through local memory. The row, its shapes and the launches. See
// gemm_register_local.cl.
#include "ops/gemm/gemm_register_local.h"

#include <algorithm>
#include <set>
#include <utility>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/gemm/gemm_processor_choice.h"
#include "ops/gemm/gemm_register_choice.h"
#include "ops/gemm/gemm_split_k.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/joined_parts.h"

namespace tessera::opencl {

namespace {

using Shapes = std::vector<LocalTileShape>;

/// For processors, which are not what this is made for: the tile without slices, which no known driver computes
/// wrongly, and one of four vectors' columns.
Shapes shapes_of_processor(DataType type, const DeviceFacts& facts) {
  const std::int64_t depth = type == DataType::float64 ? 8 : 16;
  Shapes shapes{{16, 64, 4, 4, depth}};
  const std::uint64_t wide = 4 * facts.vector_bytes / size_bytes(type);
  if (wide == 32) shapes.push_back({32, 32, 8, 4, 2 * depth, 4});
  if (wide >= 64) shapes.push_back({64, 64, 8, 8, 2 * depth, 4});
  return shapes;
}

/// These few shapes suffice: over all of {256, 512, 1024, 2048}^3 on an H200 (driver 580) they are within 1 % of the
/// best of 12 shapes in the geometric mean. Small tiles need slices: without them only 86 % were reached.
///
/// On NVIDIA from sm_80 on tiles have steps ahead where rows are read number by number anyway: on an H100 1032 x 117 x
/// 2045, both transposed, takes 31 us so, and 68 else, with 32 x 32; 839 x 1406 x 93 in rows of 98 and 1409 16 and 20.
/// In vectors of 16 bytes 2048 cubed takes 1.1 times as long (without a committed file).
Shapes shapes_of(const Gemm& problem, const DeviceFacts& facts) {
  const DataType type = problem.type;
  if (facts.info.kind == DeviceKind::cpu) return shapes_of_processor(type, facts);
  if (type == DataType::float32 && facts.has_tensor_cores && !reads_vectors(problem)) {
    return {{32, 32, 8, 4, 32, 4, 3, 0, true},
            {32, 64, 8, 8, 32, 8, 3, 0, true},
            {64, 64, 8, 8, 16, 4, 4, 0, true},
            {64, 128, 8, 8, 16, 2, 3, 0, true},
            {128, 128, 8, 8, 16}};
  }
  if (type == DataType::float32) {
    return {{32, 32, 8, 4, 32, 4},
            {32, 64, 8, 8, 32, 8},
            {64, 64, 8, 8, 32, 4},
            {64, 128, 8, 8, 16, 2},
            {128, 128, 8, 8, 16}};
  }
  // With tensor cores 64 x 64 is faster without slices: 55.9 us at 1024^3, 59.2 with two (H200).
  if (const int cores = facts.float64_tensor_cores; cores != 0) {
    return {{32, 32, 4, 8, 16, 4, 4, cores},
            {64, 32, 4, 8, 8, 2, 4, cores},
            {64, 64, 4, 8, 8, 1, 5, cores},
            {128, 64, 8, 8, 8, 1, 3, cores}};
  }
  return {{32, 32, 8, 4, 16, 4}, {64, 64, 8, 8, 16, 4}, {64, 128, 8, 8, 8, 2}, {64, 128, 8, 8, 8}};
}

std::uint64_t group_count(const Gemm& problem, const LocalTileShape& shape) {
  return gemm_blocks(problem, shape.tile_m, shape.tile_n);
}

backend::Verdict check_shape(const Gemm& problem, const DeviceFacts& facts, const LocalTileShape& shape) {
  const std::string with = backend::sentence("gemm with tile_m = ", shape.tile_m, " and tile_n = ", shape.tile_n);
  if (backend::Verdict verdict = check_local_tile(with, shape, problem.type, facts.info); !verdict) return verdict;
  // Parts of k multiply the number of groups, but k is split only where C fits the workspace, so that there are few.
  return check_groups(with, group_count(problem, shape));
}

/// Those that the device can run, and, if there are none, why it refuses the first.
struct Offer {
  Shapes shapes;
  std::string because;
};

Offer offer_of(const Gemm& problem, const DeviceFacts& facts) {
  Offer offer;
  for (const LocalTileShape& shape : shapes_of(problem, facts)) {
    const backend::Verdict verdict = check_shape(problem, facts, shape);
    if (verdict) offer.shapes.push_back(shape);
    if (!verdict && offer.because.empty()) offer.because = verdict.because();
  }
  return offer;
}

/// Tiles that are offered with several numbers of slices.
bool has_several_slices(const Shapes& shapes, const LocalTileShape& of) {
  return std::count_if(shapes.begin(), shapes.end(), [&](const LocalTileShape& shape) {
           return shape.tile_m == of.tile_m && shape.tile_n == of.tile_n;
         }) > 1;
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  const Shapes shapes = offer_of(problem, facts).shapes;
  const LocalTuning best = choose_register_local(problem, facts, shapes);
  Tunable tile_m{.name = "tile_m",
                 .meaning = "rows of the tile of C that a work-group computes",
                 .values = {},
                 .preferred = best.shape.tile_m};
  Tunable tile_n{.name = "tile_n",
                 .meaning = "columns of the tile of C that a work-group computes",
                 .values = {},
                 .preferred = best.shape.tile_n,
                 .paired_with = "tile_m"};
  Tunable slices{.name = "most_slices",
                 .meaning =
                     "the most slices that a work-group cuts each step of k into, where its tile exists with "
                     "several numbers of them",
                 .values = {},
                 .preferred = 0};
  add_tiles(shapes, tile_m, tile_n);
  std::set<std::int64_t> numbers_of_slices;
  for (const LocalTileShape& shape : shapes) {
    if (has_several_slices(shapes, shape)) numbers_of_slices.insert(shape.slices);
  }
  slices.values.assign(numbers_of_slices.begin(), numbers_of_slices.end());
  if (slices.values.empty()) return {tile_m, tile_n, split_k_tunable(best.split_k)};
  slices.preferred = has_several_slices(shapes, best.shape) ? best.shape.slices : slices.values.front();
  return {tile_m, tile_n, slices, split_k_tunable(best.split_k)};
}

/// The shape that a tuning means.
LocalTileShape shape_of(const Gemm& problem, const DeviceFacts& facts, const Tuning& tuning) {
  Shapes shapes = offer_of(problem, facts).shapes;
  const Shapes all = shapes;
  std::erase_if(shapes, [&](const LocalTileShape& shape) {
    return shape.tile_m != tuning.at("tile_m") || shape.tile_n != tuning.at("tile_n") ||
           (has_several_slices(all, shape) && shape.slices != tuning.at("most_slices"));
  });
  return shapes.front();
}

backend::Verdict check(const Gemm& problem, const backend::Device& device) {
  return check_register_local(problem, native(device));
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& opened, const Tuning& tuning) {
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    return std::make_unique<OpenclKernel>(std::vector<OperatorLaunch>{});
  }
  const OpenclDevice& device = native(opened);
  const LocalTileShape shape = shape_of(problem, device.facts(), tuning);
  const Gemm computed = gemm_as_computed(problem);
  const KParts parts = cut_k(computed, tuning.at("split_k"), shape.depth);
  const std::uint64_t blocks = group_count(computed, shape);
  const std::size_t joined =
      elements_of_joined_parts(device.facts(), blocks, parts.count, shape.tile_m * shape.tile_n, problem.type);
  ProgramSource source = gemm_program("gemm_register_local", embedded::gemm_register_local, problem, shape.options());
  if (joined != 0) join_parts(source, device.facts());
  const std::uint64_t groups = blocks * static_cast<std::uint64_t>(parts.count);
  return make_gemm_in_parts(device, source, computed, parts, gemm_operands(problem),
                            {1, {groups * shape.group_size(), 1, 1}, {shape.group_size(), 1, 1}}, joined);
}

}  // namespace

backend::Verdict check_register_local(const Gemm& problem, const OpenclDevice& device) {
  if (backend::Verdict verdict = check_gemm_type(problem, device.facts()); !verdict) return verdict;
  const Offer offer = offer_of(problem, device.facts());
  return offer.shapes.empty() ? backend::Verdict::no(offer.because) : backend::Verdict::yes();
}

double register_local_microseconds(const Gemm& problem, const OpenclDevice& device) {
  return choose_register_local(problem, device.facts(), offer_of(problem, device.facts()).shapes).microseconds;
}

OperatorLaunch launch_of_register_local(const Gemm& problem, const OpenclDevice& device,
                                        std::vector<MemoryArgument> memory) {
  const LocalTileShape shape =
      choose_register_local(problem, device.facts(), offer_of(problem, device.facts()).shapes).shape;
  const Gemm computed = gemm_as_computed(problem);
  OperatorLaunch launch;
  launch.kernel =
      device.kernel(gemm_program("gemm_register_local", embedded::gemm_register_local, problem, shape.options()));
  launch.range = {1, {group_count(computed, shape) * shape.group_size(), 1, 1}, {shape.group_size(), 1, 1}};
  launch.memory = std::move(memory);
  set_gemm_structs(launch, computed, cut_k(computed, 1, shape.depth).scalars());
  return launch;
}

backend::Verdict pays_without_local_memory(const Gemm& problem, const backend::Device& device) {
  const OpenclDevice& opencl = native(device);
  return pays_without_local_memory(opencl.facts().info, check_register_local(problem, opencl));
}

backend::Variant<Gemm> gemm_register_local() {
  return {.name = "register_local",
          .summary = "a tile of C in each work-item's registers, operands through local memory",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = square_tiles_pay};
}

}  // namespace tessera::opencl
