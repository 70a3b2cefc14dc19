// Columns of references: launches. See denoise_columns.cu.
#include "ops/denoise/denoise_columns.h"

#include <string>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_error.h"

namespace tessera::cuda {

namespace {

using backend::sentence;
using mathematics::DenoiseColumns;

std::string function_name(const DenoiseStepPlan& plan, const DenoiseColumns& columns) {
  return sentence("tessera_denoise_columns_", to_string(plan.problem.type), plan.is_wiener ? "_wiener_" : "_hard_",
                  columns.places);
}

}  // namespace

std::optional<DenoiseColumns> denoise_columns_of(const Denoise& problem, const DenoiseStep& step, bool is_wiener,
                                                 const DeviceLimits& limits) {
  // Fewer warps leave a multiprocessor idle where the volume has more to do.
  constexpr std::int64_t kFewestWarps = 6;
  const std::int64_t volumes = is_wiener ? 2 : 1;
  return DenoiseColumns::of(problem, step, is_wiener,
                            {.shared_bytes = static_cast<std::int64_t>(limits.shared_bytes),
                             .most_warps = column_warps(is_wiener),
                             .fewest_warps = kFewestWarps,
                             .bytes_of_warp = kColumnWarpBytes,
                             .bytes_of_group = volumes * kColumnBytesBehind,
                             .voxel_bytes = volumes * static_cast<std::int64_t>(size_bytes(problem.type)),
                             .voxels_of_word = 4});
}

DenoiseColumnFilter::DenoiseColumnFilter(const DenoiseStepPlan& plan, const DenoiseColumns& columns)
    : geometry_(denoise_matching(plan.problem, plan.step)),
      columns_(columns),
      multiprocessors_(plan.device.context()->limits().multiprocessors),
      filter_(plan.device.context(), embedded::denoise_columns, function_name(plan, columns), LaunchGrid()) {
  Context& context = *plan.device.context();
  context.make_current();
  check(context.api().cuFuncSetAttribute(context.function(embedded::denoise_columns, function_name(plan, columns)),
                                         CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(context.limits().shared_bytes)),
        "allowing a kernel all of the shared memory");
}

void DenoiseColumnFilter::enqueue(backend::Queue& queue, const mathematics::DenoiseRound& round,
                                  const DenoiseArguments& arguments) const {
  DenoiseColumnArguments c{};
  c.step = arguments;
  const mathematics::PatchAxis* const axes[] = {&geometry_.x, &geometry_.y, &geometry_.z};
  const std::int64_t first[] = {round.first.x, round.first.y, round.first.z};
  const std::int64_t references[] = {round.references.x, round.references.y, round.references.z};
  for (int i = 0; i < 3; ++i) {
    c.first[i] = static_cast<std::int32_t>(first[i]);
    c.references[i] = static_cast<std::int32_t>(references[i]);
    c.apart[i] = static_cast<std::int32_t>(axes[i]->step);
    c.window[i] = static_cast<std::int32_t>(axes[i]->window);
    c.places[i] = static_cast<std::int32_t>(axes[i]->places);
  }
  c.tile[0] = static_cast<std::int32_t>(columns_.tile_x);
  c.tile[1] = static_cast<std::int32_t>(columns_.tile_y);
  c.columns[0] = static_cast<std::int32_t>(columns_.columns_x(round.references.x));
  c.columns[1] = static_cast<std::int32_t>(columns_.columns_y(round.references.y));
  const std::int64_t columns = std::int64_t{c.columns[0]} * c.columns[1];
  const std::int64_t layers = columns_.layers_of_group(columns, round.references.z, multiprocessors_);
  c.layers = static_cast<std::int32_t>(layers);
  c.ring = static_cast<std::int32_t>(columns_.ring);
  c.voxel_ring = static_cast<std::int32_t>(columns_.voxel_ring);
  c.row = static_cast<std::int32_t>(columns_.row);
  c.slice = static_cast<std::int32_t>(columns_.slice);
  LaunchGrid grid;
  grid.groups[0] = static_cast<unsigned>(columns * mathematics::ceil_div(round.references.z, layers));
  grid.group_size[0] = static_cast<unsigned>(mathematics::DenoiseColumns::kWarp * columns_.warps);
  grid.dynamic_shared_bytes = static_cast<unsigned>(columns_.shared_bytes);
  filter_.enqueue(queue, c, grid);
}

}  // namespace tessera::cuda
