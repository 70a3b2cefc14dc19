// The variants "split_mma" and "scaled_half_mma" of gemm: what split and scaled_half do, by the tensor cores'
// instruction of warps, which every card has from sm_80 on.
#include <iterator>
#include <memory>

#include "cuda_device.h"
#include "cuda_embedded.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_expected.h"
#include "ops/gemm/gemm_split_kernel.h"
#include "ops/gemm/gemm_split_mma_choice.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {
namespace {

using backend::Verdict;

template <GemmSplitKind kKind>
constexpr const char* kName = kKind == GemmSplitKind::split ? "split_mma" : "scaled_half_mma";

template <GemmSplitKind kKind>
Verdict check(const Gemm& problem, const backend::Device& device) {
  const GemmSplitTiling largest = tiling_of(std::end(kSplitMmaShapes)[-1]);
  if (Verdict is_taken = check_gemm_split_problem(problem, device, kKind, kName<kKind>, largest); !is_taken)
    return is_taken;
  return check_split_mma_card(device);
}

template <GemmSplitKind kKind>
std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  return split_mma_tunables(choose_gemm_split_mma(problem, kKind, native(device).context()->limits()),
                            "rows of C that one group computes", "columns of C that it computes");
}

template <GemmSplitKind kKind>
double error_factor_of(const Gemm& problem, const backend::Device&) {
  return mathematics::gemm_split_error_factor(mathematics::gemm_as_computed(problem), kKind, split_mma_depth(kKind));
}

template <GemmSplitKind kKind>
Verdict pays(const Gemm& problem, const backend::Device& device) {
  const DeviceLimits& card = native(device).context()->limits();
  if (Verdict may = gemm_split_mma_may_pay(mathematics::gemm_as_computed(problem), card); !may) return may;
  return gemm_is_fastest(kName<kKind>, problem, card);
}

template <GemmSplitKind kKind>
std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  return make_gemm_split_kernel(native(device).context(), problem, kKind,
                                tiling_of(split_mma_shape(tuning.at("tile_m"), tuning.at("tile_n"))),
                                {embedded::gemm_split_mma, gemm_split_kernel_name(kKind) + "mma_"});
}

}  // namespace

backend::Variant<Gemm> gemm_split_mma() {
  return {
      .name = kName<GemmSplitKind::split>,
      .summary = "split by the tensor cores' instruction of warps, their sums added up in float32 after each 16 of k",
      .check = check<GemmSplitKind::split>,
      .tunables = tunables<GemmSplitKind::split>,
      .make = make<GemmSplitKind::split>,
      .error_factor_of = error_factor_of<GemmSplitKind::split>,
      .pays = pays<GemmSplitKind::split>,
  };
}

backend::Variant<Gemm> gemm_scaled_half_mma() {
  return {
      .name = kName<GemmSplitKind::scaled_half>,
      .summary = "scaled_half by the tensor cores' instruction of warps, their sums added up after each 32 of k",
      .check = check<GemmSplitKind::scaled_half>,
      .tunables = tunables<GemmSplitKind::scaled_half>,
      .make = make<GemmSplitKind::scaled_half>,
      .error_factor_of = error_factor_of<GemmSplitKind::scaled_half>,
      .pays = pays<GemmSplitKind::scaled_half>,
  };
}

}  // namespace tessera::cuda
