// Columns of references: launches. See denoise_columns.cl.
#include "ops/denoise/denoise_columns.h"

#include <algorithm>
#include <string>

#include "backend/sentence.h"
#include "opencl_embedded.h"

namespace tessera::opencl {

namespace {

using mathematics::DenoiseColumns;

bool is_processor(const DeviceFacts& facts) {
  return facts.info.kind == DeviceKind::cpu;
}

/// Work-items for each patch of a stack: its planes.
constexpr std::int64_t kItemsOfPatch = 4;

std::int64_t warps_of_stack(const DenoiseColumns& columns) {
  return columns.places * kItemsOfPatch / DenoiseColumns::kWarp;
}

std::string program_options(const DenoiseStepPlan& plan, const DenoiseColumns& columns) {
  const DeviceFacts& facts = plan.device.facts();
  std::string options = backend::sentence(
      denoise_options(plan.problem), " -DPLACES=", columns.places,
      " -DSTACKS=", columns.warps / warps_of_stack(columns), " -DNVIDIA=", facts.is_nvidia ? 1 : 0,
      " -DWIENER=", plan.is_wiener ? 1 : 0, " -DUNROLL=", is_processor(facts) ? 0 : 1,
      " -DEXACT_DIVISION=", facts.divides_exactly ? 1 : 0, " -DLONG_ATOMICS=", facts.has_int64_atomics ? 1 : 0);
  if (facts.divides_exactly) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  // Intel's compiler for processors makes other last bits of the Wiener filter's program, but not where it does not
  // optimise. Processors have no use for it but to test it.
  if (is_processor(facts) && !facts.is_pocl) options += " -cl-opt-disable";
  return options;
}

}  // namespace

std::optional<DenoiseColumns> denoise_columns_of(const Denoise& problem, const DenoiseStep& step, bool is_wiener,
                                                 const DeviceFacts& facts) {
  // Of Team in denoise_columns_team.cl, and what is beside: what its work-items tell each other without instructions.
  const std::int64_t warp_bytes = facts.is_nvidia ? 2116 : 2640;
  constexpr std::int64_t kBeside = 64;  // what a compiler aligns
  constexpr std::int64_t kMostWarps = 8;
  const auto most_items = static_cast<std::int64_t>(facts.info.max_group_size);
  return DenoiseColumns::of(problem, step, is_wiener,
                            {.shared_bytes = static_cast<std::int64_t>(facts.info.local_memory_bytes),
                             .most_warps = std::min(kMostWarps, most_items / DenoiseColumns::kWarp),
                             .bytes_of_warp = warp_bytes,
                             .bytes_of_group = kBeside,
                             .threads_of_patch = kItemsOfPatch});
}

DenoiseColumnFilter::DenoiseColumnFilter(const DenoiseStepPlan& plan, const DenoiseColumns& columns)
    : geometry_(denoise_matching(plan.problem, plan.step)),
      columns_(columns),
      at_once_(static_cast<std::int64_t>(plan.device.facts().info.compute_units)),
      filter_(plan.device, "denoise_columns", embedded::denoise_columns, program_options(plan, columns)) {}

void DenoiseColumnFilter::enqueue(DenoiseRun& run, const DenoiseOperands& operands,
                                  const mathematics::DenoiseRound& round, const DenoiseShape& shape,
                                  const DenoiseMatch& match) const {
  DenoiseColumnShape c{};
  const mathematics::PatchAxis* const axes[] = {&geometry_.x, &geometry_.y, &geometry_.z};
  const std::int64_t first[] = {round.first.x, round.first.y, round.first.z};
  const std::int64_t references[] = {round.references.x, round.references.y, round.references.z};
  for (int i = 0; i < 3; ++i) {
    c.first[i] = static_cast<cl_int>(first[i]);
    c.references[i] = static_cast<cl_int>(references[i]);
    c.apart[i] = static_cast<cl_int>(axes[i]->step);
    c.window[i] = static_cast<cl_int>(axes[i]->window);
    c.places[i] = static_cast<cl_int>(axes[i]->places);
  }
  c.tile[0] = static_cast<cl_int>(columns_.tile_x);
  c.tile[1] = static_cast<cl_int>(columns_.tile_y);
  c.columns[0] = static_cast<cl_int>(columns_.columns_x(round.references.x));
  c.columns[1] = static_cast<cl_int>(columns_.columns_y(round.references.y));
  const std::int64_t columns = std::int64_t{c.columns[0]} * c.columns[1];
  const std::int64_t layers = columns_.layers_of_group(columns, round.references.z, at_once_);
  c.layers = static_cast<cl_int>(layers);
  c.ring = static_cast<cl_int>(columns_.ring);
  c.row = static_cast<cl_int>(columns_.row);
  c.slice = static_cast<cl_int>(columns_.slice);
  const auto groups = static_cast<std::size_t>(columns * mathematics::ceil_div(round.references.z, layers));
  const auto items = static_cast<std::size_t>(DenoiseColumns::kWarp * columns_.warps);
  const DenoiseLocal sums{static_cast<std::size_t>(DenoiseColumns::kSumBytes * columns_.ring * columns_.slice)};
  filter_.enqueue_range(run, {1, {groups * items, 1, 1}, {items, 1, 1}}, operands.volume, operands.basic,
                        operands.table, operands.largest, match.counts(run), match.indices(run), operands.sums, sums,
                        shape, c);
}

}  // namespace tessera::opencl
