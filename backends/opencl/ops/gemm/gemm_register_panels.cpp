// gemm, register_panels: a tile of C in registers, from panels of both operands that are packed before. The row, its
// shapes and the launches. See gemm_register_panels.cl.
#include "ops/gemm/gemm_register_panels.h"

#include <algorithm>
#include <utility>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/gemm/gemm_processor_choice.h"
#include "ops/gemm/gemm_register_choice.h"
#include "ops/gemm/gemm_register_local.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;

/// As many rows as leave registers for a row of B: processors with vectors of 64 bytes have 32 registers, others at
/// least 16. gemm_register_panels.cl says what was measured.
PanelShape shape_of(std::int64_t tile, DataType type, const DeviceFacts& facts) {
  const auto width = static_cast<std::int64_t>(facts.vector_bytes / size_bytes(type));
  const std::int64_t vectors = std::max<std::int64_t>(tile / width, 1);
  const std::int64_t registers = facts.vector_bytes == 64 ? 28 : 12;
  const std::int64_t rows = std::clamp<std::int64_t>(registers / vectors, 1, 14);
  return {vectors == 4 && rows == 7 ? 6 : rows, vectors * width, width};
}

/// Elements of a panel that one work-item copies, and steps of p at least. Smaller pieces only make more groups, and on
/// 16 cores PoCL 5.0 took longer to hand those out than to copy.
constexpr std::int64_t kElementsOfPiece = 16384;
constexpr std::int64_t kShortestPiece = 256;
/// The most tiles below each other that one work-item computes, and how many groups for each thread are enough.
constexpr std::int64_t kMostTiles = 8;
constexpr std::int64_t kGroupsForEachUnit = 8;

MemoryArgument workspace_from(DataType type, std::int64_t element) {
  return {.place = MemoryArgument::kWorkspace, .type = type, .first_element = static_cast<std::uint64_t>(element)};
}

NdRange one_item_groups(std::int64_t groups) {
  return {1, {static_cast<std::size_t>(groups), 1, 1}, {1, 1, 1}};
}

/// A pass's operands, each from where the pass begins.
std::vector<MemoryArgument> operands_of(const PanelPass& pass) {
  const Gemm& p = pass.problem;
  std::vector<MemoryArgument> operands = pass.operands;
  operands[0].first_element =
      static_cast<std::uint64_t>(pass.product * p.stride_a + pass.row * (p.transpose_a ? 1 : p.lda));
  operands[1].first_element =
      static_cast<std::uint64_t>(pass.product * p.stride_b + pass.column * (p.transpose_b ? p.ldb : 1));
  operands[2].first_element = static_cast<std::uint64_t>(pass.product * p.stride_c + pass.row * p.ldc + pass.column);
  return operands;
}

/// Panels of gemm_register_panels.cl.
struct GemmPanels {
  cl_long a_step, a_p_step, b_step, b_p_step;
  cl_long a_groups;
  cl_long a_piece, b_piece;
  cl_long b_direct;
  cl_long a_panels_apart, b_panels_apart, b_panels_first;
  cl_long tiles;
};
static_assert(sizeof(GemmPanels) == 96, "gemm_register_panels.cl says so too");

/// Of a pass; what depends on the number of groups is still 0.
GemmPanels panels_of(const PanelPass& pass, const PanelPlan& plan, const PanelShape& shape) {
  const Gemm& p = pass.problem;
  return {.a_step = p.transpose_a ? 1 : p.lda,
          .a_p_step = p.transpose_a ? p.lda : 1,
          .b_step = p.transpose_b ? p.ldb : 1,
          .b_p_step = p.transpose_b ? 1 : p.ldb,
          .a_groups = 0,
          .a_piece = 0,
          .b_piece = 0,
          .b_direct = plan.b_direct(p),
          .a_panels_apart = p.stride_a == 0 ? 0 : ceil_div(p.m, shape.work_m) * shape.work_m * p.k,
          .b_panels_apart = p.stride_b == 0 ? 0 : plan.b_copied(p) * shape.work_n * p.k,
          .b_panels_first = plan.b_first(),
          .tiles = 0};
}

/// Copies A, and B too unless the pass before has copied the same.
OperatorLaunch launch_of_pack(std::unique_ptr<CompiledKernel> kernel, const PanelPass& pass, const PanelPlan& plan,
                              const PanelShape& shape, std::uint64_t units) {
  const Gemm& p = pass.problem;
  const auto piece_of = [&](std::int64_t panels, std::int64_t width) {
    std::int64_t piece = kElementsOfPiece / width;
    const std::int64_t groups_wanted = kGroupsForEachUnit * static_cast<std::int64_t>(units);
    while (piece > kShortestPiece && panels * ceil_div(p.k, piece) < groups_wanted) piece /= 2;
    return piece;
  };
  const std::int64_t a_panels = PanelPlan::products(p, p.stride_a) * ceil_div(p.m, shape.work_m);
  const std::int64_t b_panels = pass.row == 0 ? PanelPlan::products(p, p.stride_b) * plan.b_copied(p) : 0;
  GemmPanels panels = panels_of(pass, plan, shape);
  panels.a_piece = piece_of(a_panels, shape.work_m);
  panels.b_piece = piece_of(b_panels, shape.work_n);
  panels.a_groups = a_panels * ceil_div(p.k, panels.a_piece);
  const std::int64_t b_groups = b_panels * ceil_div(p.k, panels.b_piece);
  const std::vector<MemoryArgument> operands = operands_of(pass);
  OperatorLaunch launch;
  launch.kernel = std::move(kernel);
  launch.range = one_item_groups(panels.a_groups + b_groups);
  launch.memory = {operands[0], operands[1], workspace_from(p.type, 0)};
  set_gemm_structs(launch, p, panels);
  return launch;
}

/// Products whose operands are there. `memory`: A's panels, what of B is read in place, and C or the parts' sums.
OperatorLaunch multiply(std::unique_ptr<CompiledKernel> kernel, const Gemm& p, const KParts& parts, GemmPanels panels,
                        const PanelShape& shape, std::uint64_t units, std::vector<MemoryArgument> memory) {
  const std::int64_t rows_of_tiles = ceil_div(p.m, shape.work_m);
  const std::int64_t columns_of_tiles = ceil_div(p.n, shape.work_n) * p.batch * parts.count;
  const std::int64_t groups_wanted = kGroupsForEachUnit * static_cast<std::int64_t>(units);
  panels.tiles = std::clamp<std::int64_t>(rows_of_tiles * columns_of_tiles / groups_wanted, 1, kMostTiles);
  OperatorLaunch launch;
  launch.kernel = std::move(kernel);
  launch.range = one_item_groups(columns_of_tiles * ceil_div(rows_of_tiles, panels.tiles));
  launch.memory = std::move(memory);
  set_gemm_structs(launch, parts.problem_of_sums(p), parts.scalars(), panels);
  return launch;
}

OperatorLaunch launch_of_multiply(std::unique_ptr<CompiledKernel> kernel, const PanelPass& pass, const PanelPlan& plan,
                                  const PanelShape& shape, std::uint64_t units) {
  const KParts& parts = plan.parts();
  const Gemm& p = pass.problem;
  const std::vector<MemoryArgument> operands = operands_of(pass);
  return multiply(std::move(kernel), p, parts, panels_of(pass, plan, shape), shape, units,
                  {workspace_from(p.type, 0), operands[1],
                   parts.count > 1 ? workspace_from(p.type, plan.b_first() + plan.b_elements(p)) : operands[2]});
}

/// Tiles are two and four vectors wide, but at least 16.
std::vector<std::int64_t> candidates(const Gemm& problem, const DeviceFacts& facts) {
  const auto width = static_cast<std::int64_t>(facts.vector_bytes / size_bytes(problem.type));
  const std::int64_t narrow = std::max<std::int64_t>(2 * width, 16);
  const std::int64_t wide = std::max<std::int64_t>(4 * width, 16);
  return narrow == wide ? std::vector{narrow} : std::vector{narrow, wide};
}

backend::Verdict check_tile(const Gemm& problem, const DeviceFacts& facts, std::int64_t tile_n) {
  // A tile's own panels may take more than what bounds the passes, but not without end.
  constexpr std::int64_t kMostPanelBytes = 16 * kMostWorkspaceBytes;
  const PanelShape shape = shape_of(tile_n, problem.type, facts);
  const std::string with = sentence("gemm with tile_n = ", tile_n);
  const Gemm oriented = orient(gemm_as_computed(problem)).problem;
  const auto element_bytes = static_cast<std::int64_t>(size_bytes(problem.type));
  const std::int64_t longest_k = kMostPanelBytes / element_bytes / (shape.work_m + shape.work_n);
  if (oriented.k > longest_k) {
    return backend::Verdict::no(
        sentence("k of gemm is ", problem.k, ", but ", with, " copies panels whose k is at most ", longest_k));
  }
  return check_groups(with, gemm_blocks(oriented, 1, 4));  // the smallest tile of any shape
}

std::vector<std::int64_t> tiles_of(const Gemm& problem, const DeviceFacts& facts) {
  std::vector<std::int64_t> tiles = candidates(problem, facts);
  std::erase_if(tiles, [&](std::int64_t tile_n) { return !check_tile(problem, facts, tile_n); });
  return tiles;
}

backend::Verdict check(const Gemm& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (backend::Verdict verdict = check_gemm_type(problem, facts); !verdict) return verdict;
  if (!tiles_of(problem, facts).empty()) return backend::Verdict::yes();
  return check_tile(problem, facts, candidates(problem, facts).front());
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  const std::vector<std::int64_t> tiles = tiles_of(problem, facts);
  const PanelTuning best = choose_register_panels(problem, facts, tiles);
  return {{.name = "tile_n",
           .meaning = "columns of the tile of C that a work-item computes; it has as many rows as registers allow",
           .values = tiles,
           .preferred = best.tile_n},
          split_k_tunable(best.split_k)};
}

ProgramSource program_of(const Gemm& problem, const PanelShape& shape) {
  // How the operands are stored is an argument here: one program for all four transposes.
  Gemm as_stored = problem;
  as_stored.transpose_a = as_stored.transpose_b = false;
  return gemm_program("gemm_register_panels", embedded::gemm_register_panels, as_stored,
                      sentence(" -DWORK_M=", shape.work_m, " -DWORK_N=", shape.work_n, " -DWIDTH=", shape.width));
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& opened, const Tuning& tuning) {
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    return std::make_unique<OpenclKernel>(std::vector<OperatorLaunch>{});
  }
  const OpenclDevice& device = native(opened);
  const PanelShape shape = shape_of(tuning.at("tile_n"), problem.type, device.facts());
  const Oriented oriented = orient(gemm_as_computed(problem));
  const Gemm& computed = oriented.problem;
  const PanelPlan plan(oriented, shape, tuning.at("split_k"));
  const auto& program = device.programs().build_once(program_of(problem, shape));
  const auto kernel = [&](const char* name) {
    return std::make_unique<CompiledKernel>(device.context(), program.get(), name);
  };

  std::vector<OperatorLaunch> launches;
  plan.for_each_pass([&](const PanelPass& pass) {
    launches.push_back(
        launch_of_pack(kernel("gemm_register_pack"), pass, plan, shape, device.facts().info.compute_units));
    launches.push_back(
        launch_of_multiply(kernel("gemm_register_panels"), pass, plan, shape, device.facts().info.compute_units));
  });
  if (plan.parts().count > 1) {
    const std::int64_t first = plan.a_elements(computed) + plan.b_elements(computed);
    launches.push_back(launch_of_sum(kernel("gemm_register_sum"), computed, plan.parts(), first));
  }
  return std::make_unique<OpenclKernel>(std::move(launches), plan.workspace_bytes());
}

}  // namespace

PanelShape preferred_panel_shape(const Gemm& problem, const DeviceFacts& facts) {
  return shape_of(choose_register_panels(problem, facts, candidates(problem, facts)).tile_n, problem.type, facts);
}

OperatorLaunch launch_of_register_panels(const Gemm& problem, const OpenclDevice& device, const PanelShape& shape,
                                         std::vector<MemoryArgument> memory) {
  const Gemm computed = gemm_as_computed(problem);
  GemmPanels panels{};
  panels.b_direct = ceil_div(computed.n, shape.work_n);
  panels.a_panels_apart = ceil_div(computed.m, shape.work_m) * shape.work_m * computed.k;
  return multiply(device.kernel(program_of(problem, shape)), computed, cut_k(computed, 1, 1), panels, shape,
                  device.facts().info.compute_units, std::move(memory));
}

backend::Variant<Gemm> gemm_register_panels() {
  return {
      .name = "register_panels",
      .summary = "a tile of C in each work-item's vector registers, both operands from panels that are packed before",
      .check = check,
      .tunables = tunables,
      .make = make,
      .pays = register_panels_pays};
}

}  // namespace tessera::opencl
