// Limits of square tiles, and the launch.
#include "ops/gemm/gemm_square_tiles.h"

#include <algorithm>
#include <array>
#include <string>

namespace tessera::opencl {

namespace {

constexpr std::array<std::int64_t, 4> kTiles{4, 8, 16, 32};
/// Groups up to this size are trusted to the device's own limit. Above it the compiled kernel is asked as well, since
/// registers may run out first; that costs a build, so it is not done for the sizes where they cannot.
constexpr std::int64_t kTrustedGroupSize = 256;

std::unique_ptr<CompiledKernel> compile(const SquareTiles& kernel, const Gemm& problem, const OpenclDevice& device,
                                        std::int64_t tile) {
  return device.kernel(gemm_program(kernel.kernel, kernel.text, problem, " -DTILE=" + std::to_string(tile)));
}

/// Can the device run the kernel with this tile? The driver may also refuse to build for a group that it cannot run.
backend::Verdict check_tile(const SquareTiles& kernel, const Gemm& problem, const OpenclDevice& device,
                            std::int64_t tile) {
  const DeviceInfo& info = device.facts().info;
  const auto edge = static_cast<std::uint64_t>(tile);
  const std::string with_tile = "gemm with tile = " + std::to_string(tile);
  if (edge * edge > info.max_group_size || edge > info.max_group_extent[0] || edge > info.max_group_extent[1]) {
    return backend::Verdict::no(with_tile + " takes work-groups of " + std::to_string(edge * edge) + ", but '" +
                                info.name + "' allows " + std::to_string(info.max_group_size));
  }
  const std::uint64_t local_bytes =
      static_cast<std::uint64_t>(kernel.operands) * edge * (edge + 1) * size_bytes(problem.type);
  if (local_bytes > info.local_memory_bytes) {
    return backend::Verdict::no(with_tile + " takes " + std::to_string(local_bytes) + " bytes of local memory, but '" +
                                info.name + "' has " + std::to_string(info.local_memory_bytes));
  }
  backend::Verdict enough = check_groups(with_tile, gemm_blocks(problem, tile, tile));
  if (!enough || tile * tile <= kTrustedGroupSize) return enough;
  try {
    const std::uint64_t limit = compile(kernel, problem, device, tile)->max_group_size();
    if (edge * edge <= limit) return backend::Verdict::yes();
    return backend::Verdict::no(with_tile + " takes work-groups of " + std::to_string(edge * edge) +
                                ", but compiled for '" + info.name + "' it allows " + std::to_string(limit));
  } catch (const Error& error) {
    return backend::Verdict::no(with_tile + " is refused: " + error.sentence());
  }
}

}  // namespace

backend::Verdict check_square_tiles(const SquareTiles& kernel, const Gemm& problem, const OpenclDevice& device) {
  if (backend::Verdict verdict = check_gemm_type(problem, device.facts()); !verdict) return verdict;
  // Any tile will do. Small ones are asked first: they need no build; but they need more groups than large ones.
  std::string because;
  for (const std::int64_t tile : kTiles) {
    backend::Verdict verdict = check_tile(kernel, problem, device, tile);
    if (verdict) return verdict;
    if (because.empty()) because = verdict.because();
  }
  return backend::Verdict::no(because);
}

std::vector<Tunable> tunables_of_square_tiles(const SquareTiles& kernel, const Gemm& problem,
                                              const OpenclDevice& device) {
  Tunable tile{.name = "tile", .meaning = "edge of the square tiles in local memory, in elements", .values = {}};
  for (const std::int64_t value : kTiles) {
    if (check_tile(kernel, problem, device, value)) tile.values.push_back(value);
  }
  const bool is_gpu = device.facts().info.kind == DeviceKind::gpu;
  const std::int64_t wanted = is_gpu ? kernel.wanted_of_gpu : kernel.wanted;
  const bool has_wanted = std::find(tile.values.begin(), tile.values.end(), wanted) != tile.values.end();
  tile.preferred = has_wanted ? wanted : tile.values.back();
  return {tile};
}

std::unique_ptr<backend::Kernel> make_square_tiles(const SquareTiles& kernel, const Gemm& problem,
                                                   const OpenclDevice& device, std::int64_t tile) {
  return bind_gemm(compile(kernel, problem, device, tile), problem, tile, tile);
}

}  // namespace tessera::opencl
