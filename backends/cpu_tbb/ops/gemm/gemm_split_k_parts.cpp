// The number of parts, and the choice.
#include "ops/gemm/gemm_split_k_parts.h"

#include <algorithm>
#include <bit>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_register_kernel.h"

namespace tessera::cpu_tbb {

using mathematics::ceil_div;
using mathematics::round_up;

namespace {

/// The most elements of C: its sums stay in a second-level cache.
constexpr std::int64_t kMostElements = 1 << 16;
/// Multiply-adds of a part at least. They take 5 microseconds on a core with AVX-512, which is what it costs to give a
/// thread its part.
constexpr std::int64_t kLeastPerPart = 1 << 19;
/// A power of two, so that parts divide evenly among most numbers of threads. More parts would keep more than 64
/// threads busy, and have as many more sums to add up.
constexpr std::int64_t kMostParts = 64;
/// Parts begin at multiples of so many elements of a row of A: a cache line.
constexpr std::int64_t kPartsBegin = 16;
/// The sums of a batch's products that are computed together stay in the cache as well.
constexpr std::size_t kWorkspaceBytes = std::size_t{4} << 20;

/// Where it gains. "register" cuts a C of 128 x 128 into blocks whose packing takes, as it estimates, a sixth of their
/// time on two threads and two fifths on 16. On one thread there is nothing to gain, and "split_k" takes up to 2 %
/// longer (a Zen 4 core; no committed file has it). A batch of 16 gives as many threads a product each.
constexpr std::int64_t kMostGaining = 128 * 128;
constexpr std::int64_t kMostProducts = 15;

std::int64_t depth_of(const Gemm& problem) {
  return problem.type == DataType::float32 ? kRegisterDepth<float> : kRegisterDepth<double>;
}
std::int64_t lanes_of(const Gemm& problem) {
  return (problem.type == DataType::float32 ? register_tile<float>() : register_tile<double>()).columns / 2;
}

}  // namespace

KParts parts_of_k(const Gemm& problem) {
  KParts parts;
  const std::int64_t k = mathematics::gemm_as_computed(problem).k;
  if (problem.m == 0 || problem.n == 0 || k == 0) return parts;
  const std::int64_t least = round_up(ceil_div(kLeastPerPart, problem.m * problem.n), depth_of(problem));
  const auto most = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp(k / least, std::int64_t{1}, kMostParts))));
  parts.length = std::min(round_up(ceil_div(k, most), kPartsBegin), k);
  parts.count = ceil_div(k, parts.length);
  parts.row_elements = round_up(problem.n, lanes_of(problem));
  parts.part_elements = problem.m * parts.row_elements;
  const std::size_t bytes = size_bytes(problem.type) * static_cast<std::size_t>(parts.count * parts.part_elements);
  parts.products_at_once = std::clamp(static_cast<std::int64_t>(kWorkspaceBytes / bytes), std::int64_t{1},
                                      std::max<std::int64_t>(problem.batch, 1));
  parts.workspace_bytes = bytes * static_cast<std::size_t>(parts.products_at_once);
  return parts;
}

backend::Verdict split_k_check(const Gemm& problem, const backend::Device&) {
  // Compared so that an empty C's rows or columns, of which there may be any number, are not multiplied.
  if (problem.m == 0 || problem.n <= kMostElements / problem.m) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("gemm's C has ", problem.m, " x ", problem.n,
                                                " elements, but split_k takes up to ", kMostElements,
                                                ", whose sums stay in the cache for each part of k"));
}

backend::Verdict split_k_pays(const Gemm& problem, const backend::Device&) {
  using backend::sentence;
  using backend::Verdict;
  const KParts parts = parts_of_k(problem);
  if (parts.count < 2)
    return Verdict::no(sentence("gemm's sums of ", problem.k, " products are too short to be cut into parts"));
  if (problem.m * problem.n > kMostGaining)
    return Verdict::no(sentence("gemm's C has ", problem.m, " x ", problem.n, " elements, but split_k gains up to ",
                                kMostGaining, ": the blocks of a larger one keep the threads as busy"));
  if (problem.batch > kMostProducts)
    return Verdict::no(sentence("gemm's batch has ", problem.batch, " products, but split_k gains up to ",
                                kMostProducts, ": more keep the threads as busy"));
  return Verdict::yes();
}

}  // namespace tessera::cpu_tbb
