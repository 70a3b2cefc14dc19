// The variant "thin" of gemm: products with so few rows or columns that every element of the large operand is read
// once, where it lies, and nothing is gained by tiles. It is bound by memory. How a group works: gemm_thin_along.cu
// where sums run along the stored rows, gemm_thin_down.cu where they run down over them. A second kernel, register's,
// adds up where k is split over groups.
#include "ops/gemm/gemm_thin.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_embedded.h"
#include "cuda_queue.h"
#include "mathematics/division.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_expected.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_add.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::ceil_div;

template <class T>
class GemmThinKernel final : public backend::Kernel {
 public:
  GemmThinKernel(std::shared_ptr<Context> context, const Gemm& problem, const GemmThinShape& shape,
                 std::int64_t split_k)
      : context_(std::move(context)),
        problem_(mathematics::gemm_as_computed(problem)),
        way_(gemm_thin_way(problem)),
        shape_(shape),
        splits_(split_k) {
    const Image image = way_.along ? embedded::gemm_thin_along : embedded::gemm_thin_down;
    const std::string name = sentence("tessera_gemm_thin_", way_.along ? "along_" : "down_", to_string(problem_.type),
                                      "_", shape_.few, "_", shape_.lanes);
    aligned_ = context_->function(image, name);
    unaligned_ = context_->function(image, name + "_unaligned");
    if (splits_ > 1) {
      add_ = context_->function(embedded::gemm_register_add,
                                sentence("tessera_gemm_register_add_", to_string(problem_.type)));
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    if (splits_ == 1) return 0;
    return static_cast<std::size_t>(splits_ * std::min(problem_.batch, groups_of(2)) * problem_.m *
                                    gemm_part_row(problem_.n)) *
           sizeof(T);
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    if (problem_.m == 0 || problem_.n == 0) return;
    for (std::int64_t first = 0; first < problem_.batch; first += groups_of(2)) {
      launch_products(static_cast<CudaQueue&>(queue), pointer_to<const T>(operands[0]) + first * problem_.stride_a,
                      pointer_to<const T>(operands[1]) + first * problem_.stride_b,
                      pointer_to<T>(operands[2]) + first * problem_.stride_c,
                      std::min(problem_.batch - first, groups_of(2)), pointer_to<T>(workspace));
    }
  }

 private:
  [[nodiscard]] std::int64_t groups_of(std::size_t axis) const {
    return static_cast<std::int64_t>(context_->limits().groups[axis]);
  }
  /// Kernels that overlap came with sm_90.
  [[nodiscard]] bool overlaps() const { return context_->limits().compute_capability_major >= 9; }

  /// All but C and its factors.
  [[nodiscard]] GemmThinArguments<T> arguments_for(const T* a, const T* b) const {
    GemmThinArguments<T> thin{};
    const bool rows = way_.few_rows;
    thin.large = rows ? b : a;
    thin.small = rows ? a : b;
    thin.many = way_.many(problem_);
    thin.few = way_.few(problem_);
    thin.k = problem_.k;
    thin.large_step = rows ? problem_.ldb : problem_.lda;
    if (way_.along && thin.many == 1) thin.large_step = 0;  // there is no other row
    const std::int64_t small_step = rows ? problem_.lda : problem_.ldb;
    const bool small_along_k = rows ? !problem_.transpose_a : problem_.transpose_b;
    thin.small_few_step = small_along_k ? small_step : 1;
    thin.small_k_step = small_along_k ? 1 : small_step;
    thin.stride_large = rows ? problem_.stride_b : problem_.stride_a;
    thin.stride_small = rows ? problem_.stride_a : problem_.stride_b;
    thin.split_k = std::max<std::int64_t>(1, ceil_div(ceil_div(problem_.k, splits_), shape_.depth())) * shape_.depth();
    return thin;
  }

  /// Can the large operand be read 16 bytes at a time?
  [[nodiscard]] bool reads_chunks(const GemmThinArguments<T>& thin, std::int64_t batch) const {
    return reinterpret_cast<std::uintptr_t>(thin.large) % 16 == 0 && thin.large_step % shape_.chunk == 0 &&
           (batch == 1 || thin.stride_large % shape_.chunk == 0);
  }

  void launch_products(CudaQueue& queue, const T* a, const T* b, T* c, std::int64_t batch, T* workspace) const {
    GemmThinArguments<T> thin = arguments_for(a, b);
    const bool parts = splits_ > 1;
    const std::int64_t row_step = parts ? gemm_part_row(problem_.n) : problem_.ldc;
    thin.c = parts ? workspace : c;
    thin.c_many_step = way_.few_rows ? 1 : row_step;
    thin.c_few_step = way_.few_rows ? row_step : 1;
    thin.stride_c = parts ? problem_.m * row_step : problem_.stride_c;
    thin.split_stride = parts ? batch * thin.stride_c : 0;
    thin.alpha = parts ? T(1) : static_cast<T>(problem_.alpha);
    thin.beta = parts ? T(0) : static_cast<T>(problem_.beta);

    LaunchGrid grid;
    grid.groups = {static_cast<unsigned>(std::min(ceil_div(thin.many, shape_.tile()), groups_of(0))),
                   static_cast<unsigned>(splits_), static_cast<unsigned>(batch)};
    grid.group_size[0] = kThinThreads;
    grid.overlaps = overlaps();
    void* parameters[] = {&thin};
    queue.launch(reads_chunks(thin, batch) ? aligned_ : unaligned_, grid, parameters);
    if (parts) launch_add(queue, c, batch, workspace);
  }

  void launch_add(CudaQueue& queue, T* c, std::int64_t batch, const T* workspace) const {
    GemmAddArguments<T> add{};
    add.gemm.c = c;
    add.gemm.m = problem_.m;
    add.gemm.n = problem_.n;
    add.gemm.ldc = problem_.ldc;
    add.gemm.stride_c = problem_.stride_c;
    add.gemm.alpha = static_cast<T>(problem_.alpha);
    add.gemm.beta = static_cast<T>(problem_.beta);
    add.parts = workspace;
    add.row = gemm_part_row(problem_.n);
    add.splits = static_cast<std::int32_t>(splits_);
    add.batch = static_cast<std::int32_t>(batch);
    launch_gemm_add(queue, add_, add, context_->limits());
  }

  std::shared_ptr<Context> context_;  // the functions live as long as their context
  Gemm problem_;
  GemmThinWay way_;
  GemmThinShape shape_;
  std::int64_t splits_;
  CUfunction aligned_ = nullptr;
  CUfunction unaligned_ = nullptr;
  CUfunction add_ = nullptr;
};

Verdict check(const Gemm& problem, const backend::Device& device) {
  if (Verdict verdict = check_gemm_type(problem, device); !verdict) return verdict;
  if (std::min(problem.m, problem.n) <= kThinMost) return Verdict::yes();
  return Verdict::no(
      sentence("gemm's m is ", problem.m, " and n is ", problem.n, ", but thin needs one of them up to ", kThinMost));
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  return gemm_thin_tunables(problem, native(device).context()->limits());
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  const std::shared_ptr<Context>& context = native(device).context();
  const GemmThinShape shape = gemm_thin_shape(problem, tuning.at("lanes"));
  if (problem.type == DataType::float64) {
    return std::make_unique<GemmThinKernel<double>>(context, problem, shape, tuning.at("split_k"));
  }
  return std::make_unique<GemmThinKernel<float>>(context, problem, shape, tuning.at("split_k"));
}

Verdict pays(const Gemm& problem, const backend::Device& device) {
  if (Verdict verdict = gemm_thin_may_pay(problem); !verdict) return verdict;
  return gemm_is_fastest("thin", problem, native(device).context()->limits());
}

}  // namespace

backend::Variant<Gemm> gemm_thin() {
  return {
      .name = "thin",
      .summary = "a few rows or columns of C: each element of the large operand read once, where it lies",
      .check = check,
      .tunables = tunables,
      .make = make,
      .pays = pays,
  };
}

}  // namespace tessera::cuda
