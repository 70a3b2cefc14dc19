// The number of parts, and the choice.
#include "ops/gemm/gemm_split_k_parts.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "backend/sentence.h"
#include "cpu_tbb_device.h"
#include "mathematics/division.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_hand_over.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_blocks.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_turn.h"

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

/// It must be ahead of "register" by so much, since estimates are off by some percent.
constexpr double kAhead = 1.05;
/// Multiply-adds in the time of adding one element of a part to the total.
constexpr double kOfAdded = 8;

/// A stored B of so many bytes and columns, which several threads share, and few rows of A: "register" reads it where
/// it lies, and parts of k pack it. On two threads of an EPYC split_k takes 1.1 to 1.5 times as long for 6 to 32 x 200
/// x 8000, 1.4 to 2.1 times for 8 to 32 x 401 x 6000, but 0.7 to 0.8 for 8 x 200 x 2000 and 0.5 for 8 x 32 x 24000; in
/// float64 1.0 to 2.4 (without a file).
constexpr double kFarBytes = 4 << 20;
constexpr std::int64_t kSharedColumns = 128, kFewRows = 48;

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

namespace {

/// Estimated times in multiply-adds of one thread.
double own_time(const Gemm& problem, const KParts& parts, const Team& team) {
  const auto batch = static_cast<double>(problem.batch), count = static_cast<double>(parts.count);
  const double chunk =
      product_time(problem.m, problem.n, parts.length, problem.transpose_b ? kOfTurnedElementOfB : kOfElementOfB);
  const double rounds = std::ceil(batch * count / team.threads) + team.waited_for;
  const double added = kOfAdded * batch * count * static_cast<double>(problem.m * problem.n) / team.threads;
  return rounds * chunk + added + 2 * hand_over(team.threads);
}
double time_of_register(const Gemm& problem, const Team& team) {
  const bool is_turned = turn_of(problem) != Turn::none;
  const std::int64_t rows = is_turned ? problem.n : problem.m;
  const std::int64_t columns = is_turned ? problem.m : problem.n;
  const RegisterTile tile = problem.type == DataType::float32 ? register_tile<float>() : register_tile<double>();
  const BatchPlan plan = batch_plan(problem, team.threads);
  const Team own_team = plan.order == BatchOrder::side_by_side ? Team() : team;
  const Blocks blocks = register_blocks(rows, columns, problem.k, tile, kMostElements, own_team);
  const double product = register_time(blocks, columns, problem.k, own_team);
  const auto batch = static_cast<double>(problem.batch);
  return plan.order == BatchOrder::side_by_side ? std::ceil(batch / plan.threads) * product + hand_over(plan.threads)
                                                : batch * product;
}

bool is_read_where_it_lies(const Gemm& problem) {
  const double elements = static_cast<double>(problem.n) * static_cast<double>(problem.k);
  return !problem.transpose_b && problem.m <= kFewRows && problem.n >= kSharedColumns &&
         elements * static_cast<double>(size_bytes(problem.type)) >= kFarBytes;
}

}  // namespace

backend::Verdict split_k_pays(const Gemm& problem, const Team& team) {
  using backend::sentence;
  using backend::Verdict;
  const KParts parts = parts_of_k(problem);
  if (parts.count < 2)
    return Verdict::no(sentence("gemm's sums of ", problem.k, " products are too short to be cut into parts"));
  if (is_read_where_it_lies(problem)) {
    return Verdict::no(sentence("gemm has ", problem.m, " rows, and a B of ", problem.k, " x ", problem.n,
                                " elements, which register reads where it lies"));
  }
  const double own = own_time(problem, parts, team), other = time_of_register(problem, team);
  if (own * kAhead <= other) return Verdict::yes();
  return Verdict::no(sentence("with parts of k it is expected to take the time of ", std::lround(own),
                              " multiply-adds of one thread, and register that of ", std::lround(other)));
}
backend::Verdict split_k_pays(const Gemm& problem, const backend::Device& device) {
  return split_k_pays(problem, native(device).team());
}

}  // namespace tessera::cpu_tbb
