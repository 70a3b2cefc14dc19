// gemm, shallow: the row, its check, its choice by a model, and its launch. See gemm_shallow.cl.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/gemm/gemm_register_local.h"
#include "ops/gemm/gemm_shallow.h"
#include "ops/gemm/gemm_split_k.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// The longest sums that it takes, the largest group, and what gemm_shallow.cl says too: steps of k in local memory at
/// once.
constexpr std::int64_t kMostSteps = 64;
constexpr std::int64_t kMostItems = 256;
constexpr std::int64_t kDepth = 16;
/// Work-items across a tile that may begin where a sector of memory does.
constexpr std::int64_t kWide = 32;

/// Tiles of a row from which one more costs less than sectors that are written in part.
constexpr std::int64_t kTilesThatShift = 8;

/// A tile by `items` work-items, `across` of them side by side, and what it takes in microseconds, in float32: a
/// launch, each step of k for latency, a compute unit for each of its tiles, and for each step of k of one.
struct Tile {
  std::int64_t m;
  std::int64_t n;
  std::int64_t items;
  std::int64_t across;
  double start_us;
  double latency_us;
  double group_us;
  double step_us;

  [[nodiscard]] std::int64_t rows() const { return m / (items / across); }
  [[nodiscard]] std::int64_t runs() const { return n / across; }
};
// Fitted to 66 products on an H100, 8 of them in float64, each with every tile that took less than 1.7 times as long
// as the best: off by 12 % in the root mean square, and what is chosen takes 5 % longer than the best.
constexpr std::array<Tile, 9> kTiles{{{16, 32, 256, kWide, 5.45, 0, 0.186, 0.0118},
                                      {8, 128, 256, kWide, 3.55, 0.037, 0.52, 0.021},
                                      {16, 128, 256, kWide, 4.3, 0.024, 0.65, 0.0218},
                                      {64, 32, 256, kWide, 2.45, 0.044, 0.66, 0.0186},
                                      {64, 128, 256, kWide, 4, 0.014, 1.44, 0.0596},
                                      {64, 8, 256, 8, 5.5, 0.03, 0.26, 0.0075},
                                      {256, 8, 256, 8, 4.3, 0.025, 1.1, 0.0238},
                                      {32, 8, 64, 8, 5.9, 0.01, 0.065, 0.0045},
                                      {16, 16, 64, 16, 5.9, 0.01, 0.068, 0.0042}}};

/// What a tile takes longer that reads C.
constexpr double kReading = 1.5;

/// What register_local takes longer than its model, which knows long sums alone, says: to write a byte of C, and where
/// its rows begin at no multiple of 16 bytes. After six products on an H100.
constexpr double kStore_us = 0.5e-6;
constexpr double kUnalignedStore_us = 1.3e-6;

std::int64_t sector_of(const Gemm& problem) {
  return 32 / static_cast<std::int64_t>(size_bytes(problem.type));
}

/// Do tiles begin where a sector does? Not where all rows do by themselves, and not where that takes more tiles than it
/// saves time.
bool shifts(const Gemm& problem, const Tile& tile) {
  const std::int64_t tiles = ceil_div(problem.n, tile.n);
  return tile.across == kWide && problem.ldc % sector_of(problem) != 0 &&
         (tiles >= kTilesThatShift || ceil_div(problem.n + sector_of(problem) - 1, tile.n) == tiles);
}

std::uint64_t groups_of(const Gemm& problem, const Tile& tile) {
  Gemm shifted = problem;
  if (shifts(problem, tile)) shifted.n += sector_of(problem) - 1;
  return gemm_blocks(shifted, tile.m, tile.n);
}

double microseconds(const Gemm& problem, const Tile& tile, const DeviceFacts& facts) {
  const auto k = static_cast<double>(problem.k);
  const auto units = static_cast<double>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  const double each = std::ceil(static_cast<double>(groups_of(problem, tile)) / units);
  const double width = problem.type == DataType::float64 ? 2 : 1;
  return tile.start_us + tile.latency_us * k +
         each * width * (tile.group_us * (problem.beta == 0 ? 1 : kReading) + tile.step_us * k);
}

/// Of local memory: steps of both operands, each with what keeps them in different banks.
std::int64_t elements_of(const Gemm& problem, const Tile& tile) {
  return kDepth * (tile.m + 16 / static_cast<std::int64_t>(size_bytes(problem.type)) + tile.n + sector_of(problem) + 1);
}

/// The tile that is expected to be fastest.
const Tile& choose(const Gemm& problem, const DeviceFacts& facts) {
  return *std::min_element(kTiles.begin(), kTiles.end(), [&](const Tile& a, const Tile& b) {
    return microseconds(problem, a, facts) < microseconds(problem, b, facts);
  });
}

Verdict check(const Gemm& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (Verdict verdict = check_gemm_type(problem, facts); !verdict) return verdict;
  if (problem.k > kMostSteps) {
    return Verdict::no(sentence("gemm's k is ", problem.k, ", but shallow takes up to ", kMostSteps));
  }
  const DeviceInfo& info = facts.info;
  if (info.max_group_size < kMostItems || info.max_group_extent[0] < kMostItems) {
    return Verdict::no(sentence("shallow takes work-groups of ", kMostItems, ", but '", info.name, "' allows ",
                                std::min(info.max_group_size, info.max_group_extent[0])));
  }
  std::int64_t elements = 0;  // of local memory
  std::uint64_t groups = 0;
  for (const Tile& tile : kTiles) {
    elements = std::max(elements, elements_of(problem, tile));
    groups = std::max(groups, groups_of(problem, tile));
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(elements) * size_bytes(problem.type);
  if (bytes > info.local_memory_bytes) {
    return Verdict::no(sentence("shallow takes ", bytes, " bytes of local memory, but '", info.name, "' has ",
                                info.local_memory_bytes));
  }
  return check_groups("shallow", groups);
}

/// The values that the tiles have in one direction, ascending.
std::vector<std::int64_t> extents(std::int64_t Tile::*of) {
  std::set<std::int64_t> values;
  for (const Tile& tile : kTiles) values.insert(tile.*of);
  return {values.begin(), values.end()};
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  const Tile& preferred = choose(gemm_as_computed(problem), native(device).facts());
  Tunable tile_n{.name = "tile_n",
                 .meaning = "columns of C that it computes",
                 .values = extents(&Tile::n),
                 .preferred = preferred.n,
                 .paired_with = "tile_m"};
  for (const Tile& tile : kTiles) tile_n.pairs.emplace_back(tile.m, tile.n);
  return {{"tile_m", "rows of C that one group computes", extents(&Tile::m), preferred.m}, std::move(tile_n)};
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& opened, const Tuning& tuning) {
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    return std::make_unique<OpenclKernel>(std::vector<OperatorLaunch>{});
  }
  const OpenclDevice& device = native(opened);
  const Gemm computed = gemm_as_computed(problem);
  const Tile& tile = *std::find_if(kTiles.begin(), kTiles.end(), [&](const Tile& one) {
    return one.m == tuning.at("tile_m") && one.n == tuning.at("tile_n");
  });
  const std::string options = sentence(" -DROWS=", tile.rows(), " -DRUNS=", tile.runs(), " -DITEMS=", tile.items,
                                       " -DACROSS=", tile.across, " -DSHIFTS=", shifts(computed, tile) ? 1 : 0);
  const auto items = static_cast<std::size_t>(tile.items);
  OperatorLaunch launch;
  launch.kernel = device.kernel(gemm_program("gemm_shallow", embedded::gemm_shallow, computed, options));
  launch.range = {1, {groups_of(computed, tile) * items, 1, 1}, {items, 1, 1}};
  launch.memory = gemm_operands(computed);
  set_gemm_structs(launch, computed);
  return std::make_unique<OpenclKernel>(std::move(launch));
}

Verdict pays(const Gemm& problem, const backend::Device& opened) {
  const OpenclDevice& device = native(opened);
  if (device.facts().info.kind != DeviceKind::gpu) {
    return Verdict::no(sentence("its groups are made for GPUs, and '", device.facts().info.name, "' is none"));
  }
  if (Verdict verdict = check_register_local(problem, device); !verdict) return Verdict::yes();
  const double own = gemm_shallow_microseconds(gemm_as_computed(problem), device.facts());
  const double c = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                   static_cast<double>(problem.batch) * static_cast<double>(size_bytes(problem.type));
  const bool is_aligned = problem.ldc % (16 / static_cast<std::int64_t>(size_bytes(problem.type))) == 0;
  const double other = register_local_microseconds(problem, device) + c * (is_aligned ? kStore_us : kUnalignedStore_us);
  if (own <= other) return Verdict::yes();
  return Verdict::no(
      sentence("it is expected to take ", std::lround(own), " us, and register_local ", std::lround(other), " us"));
}

}  // namespace

double gemm_shallow_microseconds(const Gemm& computed, const DeviceFacts& facts) {
  if (computed.k > kMostSteps) return std::numeric_limits<double>::infinity();
  return std::max(kGemmLaunch_us, microseconds(computed, choose(computed, facts), facts));
}

backend::Variant<Gemm> gemm_shallow() {
  return {.name = "shallow",
          .summary = "sums up to 64 long: C written in whole sectors, wherever its rows begin",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::opencl
