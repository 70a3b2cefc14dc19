// The variants "split" and "scaled_half" of gemm: float32 products by the fp16 tensor cores of Hopper. A first kernel
// scales and rounds A and B into the workspace, a second one multiplies. Sums that may be off by more than the bound
// allows are found and computed anew by the second one.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backend/backend.h"
#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
#include "cuda_queue.h"
#include "mathematics/division.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_split_choice.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::ceil_div;
using mathematics::round_up;

/// Rows of C in flight side by side, so that their panels and those of as many columns are read through the L2 cache.
constexpr std::int64_t kBandRows = 2048;
/// Batches are cut so that the copies of one launch stay below this, if one product's do.
constexpr std::int64_t kBatchBytes = std::int64_t{1} << 30;
/// One product may take this part of the card's memory for its copies.
constexpr std::uint64_t kMemoryShare = 4;
constexpr std::int64_t kAlignment = 256;

/// In double: a problem may be larger than any number of bytes.
double copy_bytes(const Gemm& problem, GemmSplitKind kind) {
  const GemmSplitShape& largest = std::end(kGemmSplitShapes)[-1];
  const auto rows =
      static_cast<double>(padded_rows_of_a(problem, largest)) + static_cast<double>(padded_rows_of_b(problem, largest));
  const auto panels = static_cast<double>(ceil_div(problem.k, panel_depth(kind)));
  return rows * (panels * kSplitRowBytes + sizeof(GemmSplitNote));
}

class GemmSplitKernel final : public backend::Kernel {
 public:
  GemmSplitKernel(std::shared_ptr<Context> context, const Gemm& problem, GemmSplitKind kind, const char* variant,
                  const GemmSplitShape& shape)
      : context_(std::move(context)), problem_(mathematics::gemm_as_computed(problem)), shape_(shape) {
    panels_ = ceil_div(problem_.k, panel_depth(kind));
    depth_ = panels_ * panel_depth(kind);
    rows_of_a_ = padded_rows_of_a(problem_, shape_);
    rows_of_b_ = padded_rows_of_b(problem_, shape_);
    // 2^-25 for an element, times up to 2^15, as often in both operands; a sum of true size is at least half of one
    // found.
    doubt_of_one_ = static_cast<float>(0x1p15 / tiny_allowance(problem_));
    const std::string name = sentence("tessera_gemm_", variant, "_");
    prepare_ = context_->function(embedded::gemm_split, name + "prepare");
    multiply_ = context_->function(embedded::gemm_split, sentence(name, shape_.tile_m(), "x", shape_.tile_n));
    check(context_->api().cuFuncSetAttribute(multiply_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             shape_.shared_bytes()),
          "allowing a kernel its shared memory");
    const std::int64_t each = bytes_of(1, 1);
    batch_of_launch_ = std::clamp<std::int64_t>(kBatchBytes / std::max<std::int64_t>(each, 1), 1,
                                                std::max<std::int64_t>(problem_.batch, 1));
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    if (is_empty()) return 0;
    return static_cast<std::size_t>(
        bytes_of(matrices(problem_.stride_a, batch_of_launch_), matrices(problem_.stride_b, batch_of_launch_)));
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    if (is_empty()) return;
    for (std::int64_t first = 0; first < problem_.batch; first += batch_of_launch_) {
      GemmSplitArguments gemm = arguments_for(std::min(problem_.batch - first, batch_of_launch_));
      gemm.a = pointer_to<const float>(operands[0]) + first * problem_.stride_a;
      gemm.b = pointer_to<const float>(operands[1]) + first * problem_.stride_b;
      gemm.c = pointer_to<float>(operands[2]) + first * problem_.stride_c;
      gemm.aligned_c = reinterpret_cast<std::uintptr_t>(gemm.c) % 8 == 0 && problem_.ldc % 2 == 0 &&
                       (gemm.batch == 1 || problem_.stride_c % 2 == 0);
      launch_both(static_cast<CudaQueue&>(queue), gemm, pointer_to<unsigned char>(workspace));
    }
  }

 private:
  [[nodiscard]] bool is_empty() const { return problem_.m == 0 || problem_.n == 0 || problem_.batch == 0; }
  [[nodiscard]] static std::int64_t matrices(std::int64_t stride, std::int64_t batch) {
    return stride == 0 ? 1 : batch;
  }

  /// Of panels and notes for so many matrices.
  [[nodiscard]] std::int64_t bytes_of(std::int64_t a_count, std::int64_t b_count) const {
    const auto of = [&](std::int64_t rows) {
      return rows * panels_ * kSplitRowBytes + round_up(rows * std::int64_t{sizeof(GemmSplitNote)}, kAlignment);
    };
    return of(a_count * rows_of_a_) + of(b_count * rows_of_b_);
  }

  /// All but the addresses.
  [[nodiscard]] GemmSplitArguments arguments_for(std::int64_t batch) const {
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

  void launch_both(CudaQueue& queue, GemmSplitArguments& gemm, unsigned char* workspace) const {
    const std::int64_t a_rows = matrices(problem_.stride_a, gemm.batch) * rows_of_a_;
    const std::int64_t b_rows = matrices(problem_.stride_b, gemm.batch) * rows_of_b_;
    GemmSplitPrepareArguments prepare{};
    const auto take = [&](std::int64_t bytes) {
      return std::exchange(workspace, workspace + round_up(bytes, kAlignment));
    };
    prepare.a = {gemm.a,  problem_.m, rows_of_a_, gemm.a_row_stride, gemm.a_k_stride, problem_.stride_a,
                 nullptr, nullptr,    kSplitRows};
    prepare.b = {gemm.b,  problem_.n, rows_of_b_,   gemm.b_column_stride, gemm.b_k_stride, problem_.stride_b,
                 nullptr, nullptr,    shape_.tile_n};
    prepare.a.panels = take(a_rows * panels_ * kSplitRowBytes);
    prepare.b.panels = take(b_rows * panels_ * kSplitRowBytes);
    prepare.a.notes = reinterpret_cast<GemmSplitNote*>(take(a_rows * std::int64_t{sizeof(GemmSplitNote)}));
    prepare.b.notes = reinterpret_cast<GemmSplitNote*>(take(b_rows * std::int64_t{sizeof(GemmSplitNote)}));
    prepare.blocks_of_a = a_rows / kSplitPrepareRows;
    prepare.k = static_cast<std::int32_t>(problem_.k);
    prepare.padded_k = static_cast<std::int32_t>(depth_);
    prepare.doubt_of_one = doubt_of_one_;
    gemm.a_panels = prepare.a.panels;
    gemm.b_panels = prepare.b.panels;
    gemm.a_notes = prepare.a.notes;
    gemm.b_notes = prepare.b.notes;

    const DeviceLimits& card = context_->limits();
    LaunchGrid grid;
    grid.groups[0] = static_cast<unsigned>((a_rows + b_rows) / kSplitPrepareRows);
    grid.groups[1] = grid.cluster_y = static_cast<unsigned>(prepare_parts(a_rows + b_rows, problem_.k, card));
    grid.group_size[0] = kSplitPrepareThreads;
    grid.overlaps = true;
    void* prepare_parameters[] = {&prepare};
    queue.launch(prepare_, grid, prepare_parameters);

    LaunchGrid product_grid;
    const std::int64_t tiles = std::int64_t{gemm.tiles_m} * gemm.tiles_n * gemm.batch;
    const std::int64_t clusters = std::max<std::int64_t>(1, card.multiprocessors / shape_.cluster());
    product_grid.groups[0] = static_cast<unsigned>(std::min(tiles, clusters));
    product_grid.groups[1] = product_grid.cluster_y = static_cast<unsigned>(shape_.cluster());
    product_grid.group_size[0] = kSplitThreads;
    product_grid.dynamic_shared_bytes = static_cast<unsigned>(shape_.shared_bytes());
    product_grid.overlaps = true;
    void* parameters[] = {&gemm};
    queue.launch(multiply_, product_grid, parameters);
  }

  std::shared_ptr<Context> context_;  // the functions live as long as their context
  Gemm problem_;
  GemmSplitShape shape_;
  std::int64_t panels_ = 0;
  std::int64_t depth_ = 0;
  std::int64_t rows_of_a_ = 0;
  std::int64_t rows_of_b_ = 0;
  std::int64_t batch_of_launch_ = 1;
  float doubt_of_one_ = 0;
  CUfunction prepare_ = nullptr;
  CUfunction multiply_ = nullptr;
};

/// But for the accuracy.
Verdict check_problem(const Gemm& problem, const backend::Device& device, GemmSplitKind kind) {
  if (problem.type != DataType::float32) {
    return Verdict::no(sentence("type of gemm is ", to_string(problem.type), ", but must be float32"));
  }
  constexpr bool kHasImage = std::string_view(TESSERA_CUDA_ARCHITECTURES).find("90a") != std::string_view::npos;
  if (!kHasImage)
    return Verdict::no("the library is compiled without the architecture 90a, whose tensor cores it needs");
  const DeviceLimits& card = native(device).context()->limits();
  if (card.compute_capability_major != 9 || card.compute_capability_minor != 0) {
    return Verdict::no(sentence("the compute capability of the device is ", card.compute_capability_major, ".",
                                card.compute_capability_minor, ", but must be 9.0"));
  }
  const double bytes = copy_bytes(problem, kind);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // so that k is below 2^31
  const std::uint64_t most = std::min<std::uint64_t>(native(device).info().memory_total_bytes / kMemoryShare, kMost);
  if (bytes > static_cast<double>(most)) {
    return Verdict::no(sentence("the prepared copies of A and B take ", bytes, " bytes, but must take at most ", most,
                                ", a quarter of the device's memory"));
  }
  return Verdict::yes();
}

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
  return gemm_split_pays(mathematics::gemm_as_computed(problem), kKind, native(device).context()->limits());
}

template <GemmSplitKind kKind>
std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  return std::make_unique<GemmSplitKernel>(native(device).context(), problem, kKind,
                                           kKind == GemmSplitKind::split ? "split" : "scaled_half",
                                           gemm_split_shape(tuning.at("tile_m"), tuning.at("tile_n")));
}

Verdict check_split(const Gemm& problem, const backend::Device& device) {
  if (problem.accuracy == Accuracy::strict) {
    return Verdict::no("the accuracy of gemm is strict, but split makes each product from three of shorter numbers");
  }
  return check_problem(problem, device, GemmSplitKind::split);
}

Verdict check_half(const Gemm& problem, const backend::Device& device) {
  if (problem.accuracy != Accuracy::fast) {
    return Verdict::no(sentence("the accuracy of gemm is ", to_string(problem.accuracy),
                                ", but must be fast: scaled_half rounds A and B to 11 bits"));
  }
  return check_problem(problem, device, GemmSplitKind::scaled_half);
}

}  // namespace

backend::Variant<Gemm> gemm_split() {
  return {
      .name = "split",
      .summary = "float32 as sums of two fp16, three products by tensor cores, their sums added up in float32",
      .check = check_split,
      .tunables = tunables<GemmSplitKind::split>,
      .make = make<GemmSplitKind::split>,
      .error_factor_of = error_factor_of<GemmSplitKind::split>,
      .pays = pays<GemmSplitKind::split>,
  };
}

backend::Variant<Gemm> gemm_scaled_half() {
  return {
      .name = "scaled_half",
      .summary = "scaled rows rounded to fp16, products by tensor cores, their sums added up in float32",
      .check = check_half,
      .tunables = tunables<GemmSplitKind::scaled_half>,
      .make = make<GemmSplitKind::scaled_half>,
      .error_factor_of = error_factor_of<GemmSplitKind::scaled_half>,
      .pays = pays<GemmSplitKind::scaled_half>,
  };
}

}  // namespace tessera::cuda
