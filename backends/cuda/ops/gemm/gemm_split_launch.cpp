// Arguments, grids and names of the launches of gemm's variants by fp16.
#include "ops/gemm/gemm_split_launch.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

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

/// The beginning of the name of a kernel that prepares, which is the same whoever multiplies.
std::string prepare_name(GemmSplitKind kind) {
  return kind == GemmSplitKind::split ? "tessera_gemm_split_prepare" : "tessera_gemm_scaled_half_prepare";
}

/// Does every row of C begin at a multiple of 16 bytes? Pairs of eight rows at once are stored as fast as neighbours of
/// one there.
bool has_aligned_rows(const GemmSplitArguments& gemm) {
  return reinterpret_cast<std::uintptr_t>(gemm.c) % 16 == 0 && gemm.ldc % 4 == 0 &&
         (gemm.batch == 1 || gemm.stride_c % 4 == 0);
}

/// Does an entry of TESSERA_CUDA_ARCHITECTURES, such as "80", "90a" or "ptx90", give a card of this compute capability,
/// times ten, code of compute_80 or newer?
bool serves(std::string_view entry, int card) {
  const bool is_ptx = entry.starts_with("ptx");
  if (is_ptx) entry.remove_prefix(3);
  int number = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  if (error != std::errc() || number < 80 || number > card) return false;
  const bool is_for_one = end != entry.data() + entry.size() && *end == 'a';
  if (is_for_one) return number == card;
  return is_ptx || number / 10 == card / 10;
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

backend::Verdict check_split_mma_card(const backend::Device& device) {
  const DeviceLimits& card = native(device).context()->limits();
  const int capability = 10 * card.compute_capability_major + card.compute_capability_minor;
  if (capability < 80) {
    return backend::Verdict::no(sentence("the compute capability of the device is ", card.compute_capability_major, ".",
                                         card.compute_capability_minor, ", but must be at least 8.0"));
  }
  constexpr std::string_view kSeparator = ", ";
  for (std::string_view rest = TESSERA_CUDA_ARCHITECTURES; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(kSeparator));
    if (serves(entry, capability)) return backend::Verdict::yes();
    rest.remove_prefix(std::min(rest.size(), entry.size() + kSeparator.size()));
  }
  return backend::Verdict::no(sentence("the library is compiled for ", TESSERA_CUDA_ARCHITECTURES,
                                       ", which gives this device no code of compute_80 or newer"));
}

GemmSplitLaunch::GemmSplitLaunch(std::shared_ptr<Context> context, const Gemm& problem, GemmSplitKind kind,
                                 const GemmSplitTiling& tiling, const Products& products)
    : context_(std::move(context)),
      problem_(problem),
      tiling_(tiling),
      panels_(ceil_div(problem.k, panel_depth(kind))),
      depth_(panels_ * panel_depth(kind)),
      rows_of_a_(tiling.padded_rows_of_a(problem)),
      rows_of_b_(tiling.padded_rows_of_b(problem)),
      // 2^-25 for an element, times up to 2^15, as often in both operands; a sum of true size is at least half of one
      // found.
      doubt_of_one_(static_cast<float>(0x1p15 / mathematics::tiny_allowance(problem))) {
  prepare_ = context_->function(embedded::gemm_split, prepare_name(kind));
  const auto load = [&](const std::string& name) {
    const CUfunction function = context_->function(products.image, sentence(name, tiling_.tile_m, "x", tiling_.tile_n));
    check(context_->api().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             tiling_.shared_bytes),
          "allowing a kernel its shared memory");
    return function;
  };
  multiply_ = load(products.name);
  multiply_unaligned_ = products.neighbours.empty() ? multiply_ : load(products.neighbours);
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
  gemm.tiles_m = static_cast<std::int32_t>(rows_of_a_ / tiling_.tile_m / tiling_.cluster_m);
  gemm.tiles_n = static_cast<std::int32_t>(rows_of_b_ / tiling_.tile_n / tiling_.cluster_n);
  gemm.batch = static_cast<std::int32_t>(batch);
  gemm.band = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(kBandRows / tiling_.tile_m / tiling_.cluster_m, 1, gemm.tiles_m));
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
          tiling_.block_rows_of_a};
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
          static_cast<std::int32_t>(tiling_.tile_n)};
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
  grid.overlaps = context_->limits().compute_capability_major >= 9;
  void* parameters[] = {&arguments};
  static_cast<CudaQueue&>(queue).launch(prepare_, grid, parameters);
}

void GemmSplitLaunch::multiply(backend::Queue& queue, GemmSplitArguments& gemm) const {
  LaunchGrid grid;
  const std::int64_t tiles = std::int64_t{gemm.tiles_m} * gemm.tiles_n * gemm.batch;
  std::int64_t resident = gemm_split_clusters(tiling_, context_->limits());
  // No more of them than that each has as many tiles, or one less.
  if (tiling_.cluster() > 2) resident = ceil_div(tiles, ceil_div(tiles, resident));
  grid.groups[0] = static_cast<unsigned>(tiling_.is_resident ? std::min(tiles, resident) : tiles);
  grid.groups[1] = grid.cluster_y = static_cast<unsigned>(tiling_.cluster());
  grid.group_size[0] = static_cast<unsigned>(tiling_.threads);
  grid.dynamic_shared_bytes = static_cast<unsigned>(tiling_.shared_bytes);
  grid.overlaps = context_->limits().compute_capability_major >= 9;
  void* parameters[] = {&gemm};
  static_cast<CudaQueue&>(queue).launch(has_aligned_rows(gemm) ? multiply_ : multiply_unaligned_, grid, parameters);
}

}  // namespace tessera::cuda
