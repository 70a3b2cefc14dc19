// gemm, thin: the row, its check and its launches. See gemm_thin.cl.
#include "ops/gemm/gemm_thin.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/gemm/gemm_register_local.h"
#include "ops/gemm/gemm_shallow.h"
#include "ops/gemm/gemm_split_k.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/joined_parts.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// It must be ahead by so much, since models are off by some percent.
constexpr double kAhead = 1.1;
/// What the driver takes of a launch, which shallow's model counts and those of thin and register_local leave out.
constexpr double kDriver_us = 3;
/// The most rows or columns for which it is taken. With 16 register_local was mostly ahead on an H200; float64 was not
/// measured, and gets half as many.
constexpr std::int64_t kMostThatPay = 8;

Verdict check(const Gemm& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (Verdict verdict = check_gemm_type(problem, facts); !verdict) return verdict;
  if (std::min(problem.m, problem.n) > kThinMost) {
    return Verdict::no(
        sentence("gemm's m is ", problem.m, " and n is ", problem.n, ", but thin needs one of them up to ", kThinMost));
  }
  const DeviceInfo& info = facts.info;
  if (info.max_group_size < kThinItems || info.max_group_extent[0] < kThinItems) {
    return Verdict::no(sentence("thin takes work-groups of ", kThinItems, ", but '", info.name, "' allows ",
                                std::min(info.max_group_size, info.max_group_extent[0])));
  }
  for (const std::int64_t lanes : gemm_thin_lanes(problem, facts)) {
    const GemmThinShape shape(problem, lanes, facts);
    if (shape.local_bytes() > info.local_memory_bytes) {
      return Verdict::no(sentence("thin takes ", shape.local_bytes(), " bytes of local memory, but '", info.name,
                                  "' has ", info.local_memory_bytes));
    }
    // Parts of k multiply the number of groups, but k is split only where C fits the workspace, so that there are few.
    if (Verdict verdict = check_groups("thin", shape.groups(problem)); !verdict) return verdict;
  }
  return Verdict::yes();
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  const GemmThinChoice choice = choose_gemm_thin(gemm_as_computed(problem), facts);
  return {{"lanes", "work-items that read one stored row of the large operand", gemm_thin_lanes(problem, facts),
           choice.lanes},
          split_k_tunable(choice.split_k)};
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& opened, const Tuning& tuning) {
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    return std::make_unique<OpenclKernel>(std::vector<OperatorLaunch>{});
  }
  const OpenclDevice& device = native(opened);
  const Gemm computed = gemm_as_computed(problem);
  const GemmThinShape shape(computed, tuning.at("lanes"), device.facts());
  const KParts parts = cut_k(computed, tuning.at("split_k"), shape.depth());
  // Shuffles with a mask of lanes came with sm_30; the driver knows no older cards any more.
  ProgramSource source = gemm_program("gemm_thin", embedded::gemm_thin, computed, shape.options());
  const std::uint64_t blocks = shape.groups(computed);
  const std::size_t joined =
      elements_of_joined_parts(device.facts(), blocks, parts.count, shape.few * shape.tile(), computed.type);
  if (joined != 0) join_parts(source, device.facts());
  const std::uint64_t groups = blocks * static_cast<std::uint64_t>(parts.count);
  return make_gemm_in_parts(device, source, computed, parts, gemm_operands(computed),
                            {1, {groups * kThinItems, 1, 1}, {kThinItems, 1, 1}}, joined);
}

Verdict pays(const Gemm& problem, const backend::Device& opened) {
  const OpenclDevice& device = native(opened);
  if (device.facts().info.kind != DeviceKind::gpu) {
    return Verdict::no(sentence("its groups are made for GPUs, and '", device.facts().info.name, "' is none"));
  }
  if (Verdict verdict = check_register_local(problem, device); !verdict) return Verdict::yes();
  const std::int64_t few = std::min(problem.m, problem.n);
  const std::int64_t most = problem.type == DataType::float64 ? kMostThatPay / 2 : kMostThatPay;
  if (few > most) {
    return Verdict::no(sentence("C has ", few, " rows or columns at least, and with more than ", most,
                                " register_local is mostly faster"));
  }
  const Gemm computed = gemm_as_computed(problem);
  const double own = choose_gemm_thin(computed, device.facts()).microseconds;
  const double local = register_local_microseconds(problem, device);
  const double shallow = gemm_shallow_microseconds(computed, device.facts()) - kDriver_us;
  if (own * kAhead <= std::min(local, shallow)) return Verdict::yes();
  const bool are_alike = is_held_up_by_driver(own) && is_held_up_by_driver(local);
  if (are_alike && own < local && local < shallow) return Verdict::yes();
  return Verdict::no(sentence("it is expected to take ", std::lround(own), " us, and ",
                              local < shallow ? "register_local " : "shallow ", std::lround(std::min(local, shallow)),
                              " us"));
}

}  // namespace

backend::Variant<Gemm> gemm_thin() {
  return {.name = "thin",
          .summary = "a few rows or columns of C: each element of the large operand read once, where it lies",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::opencl
