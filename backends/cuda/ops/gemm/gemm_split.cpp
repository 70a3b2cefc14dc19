// The variants "split" and "scaled_half" of gemm: float32 products by the fp16 tensor cores of Hopper. A first kernel
// scales and rounds A and B into the workspace, a second one multiplies. Sums that may be off by more than the bound
// allows are found and computed anew by the second one.
#include <iterator>
#include <memory>

#include "cuda_device.h"
#include "cuda_embedded.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_expected.h"
#include "ops/gemm/gemm_split_choice.h"
#include "ops/gemm/gemm_split_kernel.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {
namespace {

using backend::Verdict;

template <GemmSplitKind kKind>
constexpr const char* kName = kKind == GemmSplitKind::split ? "split" : "scaled_half";

template <GemmSplitKind kKind>
std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  return gemm_split_tunables(choose_gemm_split(problem, kKind, native(device).context()->limits()));
}

template <GemmSplitKind kKind>
double error_factor_of(const Gemm& problem, const backend::Device&) {
  return gemm_split_error_factor(mathematics::gemm_as_computed(problem), kKind);
}

template <GemmSplitKind kKind>
Verdict pays(const Gemm& problem, const backend::Device& device) {
  const DeviceLimits& card = native(device).context()->limits();
  if (Verdict may = gemm_split_may_pay(mathematics::gemm_as_computed(problem), card); !may) return may;
  return gemm_is_fastest(kName<kKind>, problem, card);
}

template <GemmSplitKind kKind>
std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  return make_gemm_split_kernel(
      native(device).context(), problem, kKind, tiling_of(gemm_split_shape(tuning.at("tile_m"), tuning.at("tile_n"))),
      {embedded::gemm_split, gemm_split_kernel_name(kKind), gemm_split_kernel_name(kKind) + "neighbours_"});
}

template <GemmSplitKind kKind>
Verdict check(const Gemm& problem, const backend::Device& device) {
  const GemmSplitTiling largest = tiling_of(std::end(kGemmSplitShapes)[-1]);
  if (Verdict is_taken = check_gemm_split_problem(problem, device, kKind, kName<kKind>, largest); !is_taken)
    return is_taken;
  return check_split_card(device);
}

}  // namespace

backend::Variant<Gemm> gemm_split() {
  return {
      .name = kName<GemmSplitKind::split>,
      .summary = "float32 as sums of two fp16, three products by tensor cores, their sums added up in float32",
      .check = check<GemmSplitKind::split>,
      .tunables = tunables<GemmSplitKind::split>,
      .make = make<GemmSplitKind::split>,
      .error_factor_of = error_factor_of<GemmSplitKind::split>,
      .pays = pays<GemmSplitKind::split>,
  };
}

backend::Variant<Gemm> gemm_scaled_half() {
  return {
      .name = kName<GemmSplitKind::scaled_half>,
      .summary = "scaled rows rounded to fp16, products by tensor cores, their sums added up in float32",
      .check = check<GemmSplitKind::scaled_half>,
      .tunables = tunables<GemmSplitKind::scaled_half>,
      .make = make<GemmSplitKind::scaled_half>,
      .error_factor_of = error_factor_of<GemmSplitKind::scaled_half>,
      .pays = pays<GemmSplitKind::scaled_half>,
  };
}

}  // namespace tessera::cuda
