// gemm, tiled: square tiles of A and B in local memory, their edge a tunable. See tiled.cl.
#include <algorithm>
#include <array>
#include <utility>

#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_variants.h"

extern "C" const unsigned char tessera_opencl_gemm_tiled[];
extern "C" const unsigned long tessera_opencl_gemm_tiled_size;

namespace tessera::opencl {

namespace {

constexpr std::array<std::int64_t, 4> kTiles{4, 8, 16, 32};
/// float32, 2048^3, GFLOP/s for tiles of 4, 8, 16, 32. H200: 1370, 4370, 6490, 7140. PoCL 3.1 on two cores (at 256^3):
/// 1.1, 1.4, 4.8, 1.6.
constexpr std::int64_t kPreferredTileOfGpu = 32;
constexpr std::int64_t kPreferredTile = 16;
/// Groups up to this size are trusted to the device's own limit. Above it the compiled kernel is asked as well, since
/// registers may run out first; that costs a build, so it is not done for the sizes where they cannot.
constexpr std::int64_t kTrustedGroupSize = 256;

ProgramSource program_of(const Gemm& problem, std::int64_t tile) {
  const std::string_view text(reinterpret_cast<const char*>(tessera_opencl_gemm_tiled), tessera_opencl_gemm_tiled_size);
  return gemm_program("gemm_tiled", text, problem, " -DTILE=" + std::to_string(tile));
}

std::unique_ptr<CompiledKernel> compile(const Gemm& problem, const OpenclDevice& device, std::int64_t tile) {
  const auto& program = device.programs().build_once(program_of(problem, tile));
  return std::make_unique<CompiledKernel>(device.context(), program.get(), "gemm_tiled");
}

/// Can the device run the kernel with this tile? The driver may also refuse to build for a group that it cannot run.
backend::Verdict check_tile(const Gemm& problem, const OpenclDevice& device, std::int64_t tile) {
  const DeviceInfo& info = device.facts().info;
  const auto edge = static_cast<std::uint64_t>(tile);
  const std::string with_tile = "gemm with tile = " + std::to_string(tile);
  if (edge * edge > info.max_group_size || edge > info.max_group_extent[0] || edge > info.max_group_extent[1]) {
    return backend::Verdict::no(with_tile + " takes work-groups of " + std::to_string(edge * edge) + ", but '" +
                                info.name + "' allows " + std::to_string(info.max_group_size));
  }
  const std::uint64_t local_bytes = 2 * edge * (edge + 1) * size_bytes(problem.type);
  if (local_bytes > info.local_memory_bytes) {
    return backend::Verdict::no(with_tile + " takes " + std::to_string(local_bytes) + " bytes of local memory, but '" +
                                info.name + "' has " + std::to_string(info.local_memory_bytes));
  }
  const std::uint64_t groups = gemm_blocks(problem, tile, tile);
  if (groups > kMaxGroups) {
    return backend::Verdict::no(with_tile + " needs " + std::to_string(groups) + " work-groups, but one launch takes " +
                                std::to_string(kMaxGroups) + " at most");
  }
  if (tile * tile <= kTrustedGroupSize) return backend::Verdict::yes();
  try {
    const std::uint64_t limit = compile(problem, device, tile)->max_group_size();
    if (edge * edge <= limit) return backend::Verdict::yes();
    return backend::Verdict::no(with_tile + " takes work-groups of " + std::to_string(edge * edge) +
                                ", but compiled for '" + info.name + "' it allows " + std::to_string(limit));
  } catch (const Error& error) {
    return backend::Verdict::no(with_tile + " is refused: " + error.sentence());
  }
}

backend::Verdict check(const Gemm& problem, const backend::Device& device) {
  const OpenclDevice& opencl = native(device);
  if (backend::Verdict verdict = check_gemm_type(problem, opencl.facts()); !verdict) return verdict;
  // Any tile will do. Small ones are asked first: they need no build; but they need more groups than large ones.
  std::string because;
  for (const std::int64_t tile : kTiles) {
    const backend::Verdict verdict = check_tile(problem, opencl, tile);
    if (verdict) return verdict;
    if (because.empty()) because = verdict.because();
  }
  return backend::Verdict::no(because);
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  Tunable tile{.name = "tile", .meaning = "edge of the square tiles in local memory, in elements", .values = {}};
  for (const std::int64_t value : kTiles) {
    if (check_tile(problem, native(device), value)) tile.values.push_back(value);
  }
  const bool is_gpu = native(device).facts().info.kind == DeviceKind::gpu;
  const std::int64_t wanted = is_gpu ? kPreferredTileOfGpu : kPreferredTile;
  const bool has_wanted = std::find(tile.values.begin(), tile.values.end(), wanted) != tile.values.end();
  tile.preferred = has_wanted ? wanted : tile.values.back();
  return {tile};
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  const std::int64_t tile = tuning.at("tile");
  return bind_gemm(compile(problem, native(device), tile), problem, tile, tile);
}

}  // namespace

backend::Variant<Gemm> gemm_tiled() {
  return {.name = "tiled",
          .summary = "square tiles of A and B in local memory, one work-item an element of C",
          .check = check,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
