// gemm, register_dots: elements of C as dot products of vectors. The row and the launch. See gemm_register_dots.cl.
#include <utility>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/gemm/gemm_oriented.h"
#include "ops/gemm/gemm_processor_choice.h"
#include "ops/gemm/gemm_register_choice.h"
#include "ops/gemm/gemm_register_local.h"
#include "ops/gemm/gemm_split_k.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// C has so few rows, and k is so long and along both operands, that elements of C are best computed as dot products.
Verdict check_shape(const Gemm& oriented) {
  // From 32 rows on, panels are as fast or faster (PoCL 3.1, k = 512 and 2048). Sums shorter than 32 would lie mostly
  // behind the last whole vector, where numbers are multiplied one by one.
  constexpr std::int64_t kMostRows = 24;
  constexpr std::int64_t kShortestDots = 32;
  if (oriented.m > kMostRows) {
    return Verdict::no(sentence("C of gemm has ", oriented.m, " rows, but dot products take ", kMostRows, " at most"));
  }
  if (oriented.k < kShortestDots) {
    return Verdict::no(sentence("k of gemm is ", oriented.k, ", but dot products take ", kShortestDots, " at least"));
  }
  if (oriented.transpose_a) return Verdict::no("A of gemm lies along m, but dot products read it along k");
  if (!oriented.transpose_b) return Verdict::no("B of gemm lies along n, but dot products read it along k");
  return Verdict::yes();
}

Verdict check(const Gemm& problem, const backend::Device& device) {
  if (Verdict verdict = check_gemm_type(problem, native(device).facts()); !verdict) return verdict;
  const Gemm oriented = orient(gemm_as_computed(problem)).problem;
  if (Verdict verdict = check_shape(oriented); !verdict) return verdict;
  return check_groups("gemm by dot products", gemm_blocks(oriented, 1, 4));  // the smallest tile of any device
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  return {split_k_tunable(choose_register_dots(problem, native(device).facts()))};
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& opened, const Tuning& tuning) {
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    return std::make_unique<OpenclKernel>(std::vector<OperatorLaunch>{});
  }
  const OpenclDevice& device = native(opened);
  const Oriented oriented = orient(gemm_as_computed(problem));
  // 16 sums and 5 numbers in the 32 registers of processors with vectors of 64 bytes, 8 and 5 in the 16 of others.
  const std::uint64_t vector_bytes = device.facts().vector_bytes;
  const std::int64_t work_m = vector_bytes == 64 ? 4 : 2;
  constexpr std::int64_t kWorkN = 4;
  const Gemm& computed = oriented.problem;
  const auto width = static_cast<std::int64_t>(vector_bytes / size_bytes(computed.type));
  const KParts parts = cut_k(computed, tuning.at("split_k"), width);
  Gemm as_stored = computed;  // it is for one way round alone
  as_stored.transpose_a = as_stored.transpose_b = false;
  const ProgramSource source =
      gemm_program("gemm_register_dots", embedded::gemm_register_dots, as_stored,
                   " -DWORK_M=" + std::to_string(work_m) + " -DWORK_N=" + std::to_string(kWorkN) +
                       " -DWIDTH=" + std::to_string(width));
  const std::uint64_t groups = gemm_blocks(computed, work_m, kWorkN) * static_cast<std::uint64_t>(parts.count);
  return make_gemm_in_parts(device, source, computed, parts, oriented.operands(), {1, {groups, 1, 1}, {1, 1, 1}});
}

}  // namespace

backend::Variant<Gemm> gemm_register_dots() {
  return {.name = "register_dots",
          .summary = "elements of C as dot products of vectors, where C has few rows and both operands lie along k",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = register_dots_pays};
}

}  // namespace tessera::opencl
