// gemm, register: a tile of C in each work-item's registers. The row, its tunables, and how k is split.
#include "ops/gemm/gemm_register.h"

#include <algorithm>
#include <utility>

#include "ops/gemm/gemm_register_choice.h"
#include "ops/gemm/gemm_tile_offer.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

namespace {

/// Tiles of a processor are two and four vectors wide, but at least 16.
std::vector<std::int64_t> candidates(const Gemm& problem, const DeviceFacts& facts) {
  if (facts.info.kind != DeviceKind::cpu) {
    if (problem.type == DataType::float64 && facts.float64_tensor_cores != 0) return {32, 48, 64, 128};
    if (problem.type == DataType::float64) return {32, 64, 96, 128};
    return {32, 48, 64, 96, 128};
  }
  const auto width = static_cast<std::int64_t>(facts.vector_bytes / size_bytes(problem.type));
  const std::int64_t narrow = std::max<std::int64_t>(2 * width, 16);
  const std::int64_t wide = std::max<std::int64_t>(4 * width, 16);
  return narrow == wide ? std::vector{narrow} : std::vector{narrow, wide};
}

TileOffer offer_of(const Gemm& problem, const OpenclDevice& device) {
  return offer_tiles(problem, device, candidates(problem, device.facts()), check_register_local, check_register_panels);
}

backend::Verdict check(const Gemm& problem, const backend::Device& device) {
  const OpenclDevice& opencl = native(device);
  if (backend::Verdict verdict = check_gemm_type(problem, opencl.facts()); !verdict) return verdict;
  return offer_of(problem, opencl).verdict();
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  const OpenclDevice& opencl = native(device);
  const TileOffer offer = offer_of(problem, opencl);
  const RegisterTuning best = choose_register(problem, opencl.facts(), offer.best_shape, offer.tiles);
  return {{.name = "local_memory",
           .meaning = "1: groups share tiles in local memory; 0: each work-item alone reads panels packed before",
           .values = offer.shapes,
           .preferred = best.local_memory},
          {.name = "tile",
           .meaning = "size of the tile of C that a work-group computes: from panels its columns, through local memory "
                      "its edge (48: 32 x 64; 96, and 128 in float64: 64 x 128)",
           .values = offer.tiles,
           .preferred = best.tile},
          {.name = "split_k",
           .meaning = "parts that k is cut into at most, each summed by groups of its own",
           .values = {kRegisterSplits.begin(), kRegisterSplits.end()},
           .preferred = best.split_k}};
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  const RegisterTuning chosen{tuning.at("local_memory"), tuning.at("tile"), tuning.at("split_k")};
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    return std::make_unique<OperatorKernel>(std::vector<OperatorLaunch>{});
  }
  return chosen.local_memory != 0 ? make_register_local(problem, native(device), chosen)
                                  : make_register_panels(problem, native(device), chosen);
}

}  // namespace

Oriented orient(const Gemm& computed) noexcept {
  Oriented oriented{computed};
  Gemm& p = oriented.problem;
  if (computed.n == 1 && computed.m > 1 && computed.ldc == 1) {
    oriented.swapped = true;
    std::swap(p.m, p.n);
    std::swap(p.lda, p.ldb);
    std::swap(p.stride_a, p.stride_b);
    p.transpose_a = !computed.transpose_b;
    p.transpose_b = !computed.transpose_a;
    p.ldc = p.n;
  }
  if (p.m == 1 && p.transpose_a && p.lda == 1) {
    p.transpose_a = false;
    p.lda = p.k;
  }
  if (p.n == 1 && !p.transpose_b && p.ldb == 1) {
    p.transpose_b = true;
    p.ldb = p.k;
  }
  return oriented;
}

std::vector<MemoryArgument> Oriented::operands() const {
  std::vector<MemoryArgument> operands = gemm_operands(problem);
  if (swapped) std::swap(operands[0].place, operands[1].place);
  return operands;
}

bool Oriented::is_for_dots() const noexcept {
  // From 32 rows on, panels are as fast or faster (PoCL 3.1, k = 512 and 2048). Sums shorter than 32 would lie mostly
  // behind the last whole vector, where numbers are multiplied one by one.
  constexpr std::int64_t kMostRows = 24;
  constexpr std::int64_t kShortestDots = 32;
  return problem.m <= kMostRows && problem.k >= kShortestDots && !problem.transpose_a && problem.transpose_b;
}

Gemm KParts::problem_of_sums(Gemm problem) const {
  if (count == 1) return problem;
  problem.alpha = 1;
  problem.beta = 0;
  problem.ldc = width;
  problem.stride_c = problem.m * width;
  return problem;
}

KParts cut_k(const Gemm& computed, std::int64_t wanted, std::int64_t step) {
  constexpr std::int64_t kRowMultiple = 4;  // so that rows of sums are aligned for vectors
  KParts parts;
  parts.length = std::max<std::int64_t>(computed.k, 1);
  const std::int64_t steps = pieces_of(computed.k, step);
  if (wanted <= 1 || steps <= 1) return parts;
  const std::int64_t width = pieces_of(computed.n, kRowMultiple) * kRowMultiple;
  const double bytes_of_part = static_cast<double>(computed.batch) * static_cast<double>(computed.m) *
                               static_cast<double>(width) * static_cast<double>(size_bytes(computed.type));
  const double fitting = static_cast<double>(kMostWorkspaceBytes) / bytes_of_part;
  if (fitting < 2) return parts;
  const std::int64_t most = std::min(wanted, static_cast<std::int64_t>(std::min(fitting, 1e6)));
  parts.length = pieces_of(steps, most) * step;
  parts.count = pieces_of(computed.k, parts.length);
  if (parts.count == 1) return parts;
  parts.width = width;
  parts.elements = parts.count * computed.batch * computed.m * width;
  return parts;
}

OperatorLaunch launch_of_sum(std::unique_ptr<CompiledKernel> kernel, const Gemm& computed, const KParts& parts,
                             std::int64_t first_element) {
  OperatorLaunch launch;
  launch.range = line_of(*kernel, gemm_blocks(computed, 1, 1));
  launch.kernel = std::move(kernel);
  launch.memory = {{.place = MemoryArgument::kWorkspace,
                    .type = computed.type,
                    .first_element = static_cast<std::uint64_t>(first_element)},
                   {.place = 2, .type = computed.type}};
  with_real(computed.type, [&](auto zero) {
    using Real = decltype(zero);
    launch.set_scalars(cl_long{computed.m}, cl_long{computed.n}, cl_long{computed.ldc}, cl_long{computed.stride_c},
                       static_cast<Real>(computed.alpha), static_cast<Real>(computed.beta), cl_long{computed.batch},
                       cl_long{parts.width}, static_cast<cl_int>(parts.count));
  });
  return launch;
}

backend::Variant<Gemm> gemm_register() {
  return {.name = "register",
          .summary = "a tile of C in each work-item's registers; operands through local memory or from packed panels",
          .check = check,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
