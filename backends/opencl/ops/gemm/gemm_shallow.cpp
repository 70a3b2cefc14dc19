// gemm, shallow: the row, its check, its choice by a model, and its launch. See gemm_shallow.cl.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/gemm/gemm_register_local.h"
#include "ops/gemm/gemm_split_k.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// The longest sums that it takes, and what gemm_shallow.cl says too: work-items of a group, down and across a tile,
/// and steps of k in local memory at once.
constexpr std::int64_t kMostSteps = 64;
constexpr std::int64_t kItems = 256;
constexpr std::int64_t kDown = 8;
constexpr std::int64_t kAcross = 32;
constexpr std::int64_t kDepth = 16;

/// Tiles of a row from which one more costs less than sectors that are written in part.
constexpr std::int64_t kTilesThatShift = 8;
/// With fewer rows or columns, thin is as fast.
constexpr std::int64_t kFew = 8;

/// A tile, and what it takes in microseconds, in float32: a compute unit for each of its tiles, and for each step of k
/// of one. Of the largest after four products on an H100; what the others take is to that as it is on CUDA, whose
/// kernel is built alike.
struct Tile {
  std::int64_t m;
  std::int64_t n;
  double group_us;
  double step_us;

  [[nodiscard]] std::int64_t rows() const { return m / kDown; }
  [[nodiscard]] std::int64_t runs() const { return n / kAcross; }
};
constexpr std::array<Tile, 4> kTiles{
    {{16, 32, 0.55, 0.0091}, {16, 128, 0.95, 0.0231}, {64, 32, 0.86, 0.0272}, {64, 128, 1.85, 0.06}}};
/// Of a launch, on the scale of register_local's model, and of each step of k for latency.
constexpr double kStart_us = 2.9;
constexpr double kLatency_us = 0.015;
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
  return problem.ldc % sector_of(problem) != 0 &&
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
  return kStart_us + kLatency_us * k +
         each * width * (tile.group_us * (problem.beta == 0 ? 1 : kReading) + tile.step_us * k);
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
  if (info.max_group_size < kItems || info.max_group_extent[0] < kItems) {
    return Verdict::no(sentence("shallow takes work-groups of ", kItems, ", but '", info.name, "' allows ",
                                std::min(info.max_group_size, info.max_group_extent[0])));
  }
  const Tile& largest = kTiles.back();
  const auto columns = static_cast<std::uint64_t>(largest.n + sector_of(problem) + 1);
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(kDepth) * (static_cast<std::uint64_t>(largest.m) + columns) * size_bytes(problem.type);
  if (bytes > info.local_memory_bytes) {
    return Verdict::no(sentence("shallow takes ", bytes, " bytes of local memory, but '", info.name, "' has ",
                                info.local_memory_bytes));
  }
  return check_groups("shallow", groups_of(problem, kTiles.front()));
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  const Tile& preferred = choose(gemm_as_computed(problem), native(device).facts());
  return {{"tile_m", "rows of C that one group computes", {16, 64}, preferred.m},
          {"tile_n", "columns of C that it computes", {32, 128}, preferred.n}};
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
  const std::string options =
      sentence(" -DROWS=", tile.rows(), " -DRUNS=", tile.runs(), " -DSHIFTS=", shifts(computed, tile) ? 1 : 0);
  OperatorLaunch launch;
  launch.kernel = device.kernel(gemm_program("gemm_shallow", embedded::gemm_shallow, computed, options));
  launch.range = {1, {groups_of(computed, tile) * kItems, 1, 1}, {kItems, 1, 1}};
  launch.memory = gemm_operands(computed);
  set_gemm_structs(launch, computed);
  return std::make_unique<OpenclKernel>(std::move(launch));
}

Verdict pays(const Gemm& problem, const backend::Device& opened) {
  const OpenclDevice& device = native(opened);
  if (device.facts().info.kind != DeviceKind::gpu) {
    return Verdict::no(sentence("its groups are made for GPUs, and '", device.facts().info.name, "' is none"));
  }
  if (std::min(problem.m, problem.n) <= kFew) {
    return Verdict::no(sentence("C has ", std::min(problem.m, problem.n), " rows or columns, and up to ", kFew,
                                " others are as fast"));
  }
  if (Verdict verdict = check_register_local(problem, device); !verdict) return Verdict::yes();
  const Gemm computed = gemm_as_computed(problem);
  const double own = std::max(kGemmLaunch_us, microseconds(computed, choose(computed, device.facts()), device.facts()));
  const double c = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                   static_cast<double>(problem.batch) * static_cast<double>(size_bytes(problem.type));
  const bool is_aligned = problem.ldc % (16 / static_cast<std::int64_t>(size_bytes(problem.type))) == 0;
  const double other = register_local_microseconds(problem, device) + c * (is_aligned ? kStore_us : kUnalignedStore_us);
  if (own <= other) return Verdict::yes();
  return Verdict::no(
      sentence("it is expected to take ", std::lround(own), " us, and register_local ", std::lround(other), " us"));
}

}  // namespace

backend::Variant<Gemm> gemm_shallow() {
  return {.name = "shallow",
          .summary = "sums up to 64 long: C written in whole sectors, wherever its rows begin",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::opencl
