// Arguments, grids and names of the launches of gemm's variants split and scaled_half.
#include "ops/gemm/gemm_split_launch.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "backend/sentence.h"
#include "cuda_device.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
#include "cuda_queue.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using mathematics::ceil_div;

/// Rows of C in flight side by side, so that their panels and those of as many columns are read through the L2 cache.
constexpr std::int64_t kBandRows = 2048;

std::string name_of(GemmSplitKind kind) {
  return kind == GemmSplitKind::split ? "tessera_gemm_split_" : "tessera_gemm_scaled_half_";
}

}  // namespace

backend::Verdict check_split_card(const backend::Device& device) {
  constexpr bool kHasImage = std::string_view(TESSERA_CUDA_ARCHITECTURES).find("90a") != std::string_view::npos;
  if (!kHasImage) {
    return backend::Verdict::no("the library is compiled without the architecture 90a, whose tensor cores it needs");
  }
  const DeviceLimits& card = native(device).context()->limits();
  if (card.compute_capability_major == 9 && card.compute_capability_minor == 0) return backend::Verdict::yes();
  return backend::Verdict::no(sentence("the compute capability of the device is ", card.compute_capability_major, ".",
                                       card.compute_capability_minor, ", but must be 9.0"));
}

GemmSplitLaunch::GemmSplitLaunch(std::shared_ptr<Context> context, const Gemm& problem, GemmSplitKind kind,
                                 const GemmSplitShape& shape)
    : GemmSplitLaunch(std::move(context), problem, kind, shape, {embedded::gemm_split, name_of(kind)}) {}

GemmSplitLaunch::GemmSplitLaunch(std::shared_ptr<Context> context, const Gemm& problem, GemmSplitKind kind,
                                 const GemmSplitShape& shape, const Products& products)
    : context_(std::move(context)),
      problem_(problem),
      shape_(shape),
      panels_(ceil_div(problem.k, panel_depth(kind))),
      depth_(panels_ * panel_depth(kind)),
      rows_of_a_(padded_rows_of_a(problem, shape)),
      rows_of_b_(padded_rows_of_b(problem, shape)),
      // 2^-25 for an element, times up to 2^15, as often in both operands; a sum of true size is at least half of one
      // found.
      doubt_of_one_(static_cast<float>(0x1p15 / tiny_allowance(problem))) {
  prepare_ = context_->function(embedded::gemm_split, name_of(kind) + "prepare");
  multiply_ = context_->function(products.image, sentence(products.name, shape_.tile_m(), "x", shape_.tile_n));
  check(context_->api().cuFuncSetAttribute(multiply_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           shape_.shared_bytes()),
        "allowing a kernel its shared memory");
}

GemmSplitArguments GemmSplitLaunch::arguments(std::int64_t batch) const {
  GemmSplitArguments gemm{};
  gemm.a_matrix_rows = problem_.stride_a == 0 ? 0 : rows_of_a_;
  gemm.b_matrix_rows = problem_.stride_b == 0 ? 0 : rows_of_b_;
  gemm.m = problem_.m;
  gemm.n = problem_.n;
  gemm.k = problem_.k;
  gemm.a_row_stride = problem_.transpose_a ? 1 : problem_.lda;
  gemm.a_k_stride = problem_.transpose_a ? problem_.lda : 1;
  gemm.b_k_stride = problem_.transpose_b ? 1 : problem_.ldb;
  gemm.b_column_stride = problem_.transpose_b ? problem_.ldb : 1;
  gemm.ldc = problem_.ldc;
  gemm.stride_a = problem_.stride_a;
  gemm.stride_b = problem_.stride_b;
  gemm.stride_c = problem_.stride_c;
  gemm.panels = static_cast<std::int32_t>(panels_);
  gemm.tiles_m = static_cast<std::int32_t>(rows_of_a_ / shape_.tile_m() / shape_.cluster_m);
  gemm.tiles_n = static_cast<std::int32_t>(rows_of_b_ / shape_.tile_n / shape_.cluster_n);
  gemm.batch = static_cast<std::int32_t>(batch);
  gemm.band = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(kBandRows / shape_.tile_m() / shape_.cluster_m, 1, gemm.tiles_m));
  gemm.alpha = static_cast<float>(problem_.alpha);
  gemm.beta = static_cast<float>(problem_.beta);
  return gemm;
}

GemmSplitSide GemmSplitLaunch::side_a(const float* values) const {
  return {values,
          problem_.m,
          rows_of_a_,
          problem_.transpose_a ? 1 : problem_.lda,
          problem_.transpose_a ? problem_.lda : 1,
          problem_.stride_a,
          nullptr,
          nullptr,
          kSplitRows};
}

GemmSplitSide GemmSplitLaunch::side_b(const float* values) const {
  return {values,
          problem_.n,
          rows_of_b_,
          problem_.transpose_b ? problem_.ldb : 1,
          problem_.transpose_b ? 1 : problem_.ldb,
          problem_.stride_b,
          nullptr,
          nullptr,
          shape_.tile_n};
}

void GemmSplitLaunch::prepare(backend::Queue& queue, const std::pair<GemmSplitSide, std::int64_t>& a,
                              const std::pair<GemmSplitSide, std::int64_t>& b) const {
  const std::int64_t a_rows = a.second * rows_of_a_;
  const std::int64_t rows = a_rows + b.second * rows_of_b_;
  GemmSplitPrepareArguments arguments{a.first,
                                      b.first,
                                      a_rows / kSplitPrepareRows,
                                      static_cast<std::int32_t>(problem_.k),
                                      static_cast<std::int32_t>(depth_),
                                      doubt_of_one_};
  LaunchGrid grid;
  grid.groups[0] = static_cast<unsigned>(rows / kSplitPrepareRows);
  grid.groups[1] = grid.cluster_y = static_cast<unsigned>(prepare_parts(rows, problem_.k, context_->limits()));
  grid.group_size[0] = kSplitPrepareThreads;
  grid.overlaps = true;
  void* parameters[] = {&arguments};
  static_cast<CudaQueue&>(queue).launch(prepare_, grid, parameters);
}

void GemmSplitLaunch::multiply(backend::Queue& queue, GemmSplitArguments& gemm) const {
  LaunchGrid grid;
  const std::int64_t tiles = std::int64_t{gemm.tiles_m} * gemm.tiles_n * gemm.batch;
  const std::int64_t clusters =
      std::max<std::int64_t>(1, std::int64_t{context_->limits().multiprocessors} / shape_.cluster());
  grid.groups[0] = static_cast<unsigned>(std::min(tiles, clusters));
  grid.groups[1] = grid.cluster_y = static_cast<unsigned>(shape_.cluster());
  grid.group_size[0] = kSplitThreads;
  grid.dynamic_shared_bytes = static_cast<unsigned>(shape_.shared_bytes());
  grid.overlaps = true;
  void* parameters[] = {&gemm};
  static_cast<CudaQueue&>(queue).launch(multiply_, grid, parameters);
}

}  // namespace tessera::cuda
