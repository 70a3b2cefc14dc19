// Prepared copies in the workspace, batches in pieces, and what the variants by fp16 refuse.
#include "ops/gemm/gemm_split_kernel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "mathematics/division.h"
#include "mathematics/gemm_as_computed.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::ceil_div;

/// Batches are cut so that the copies of one launch stay below this, if one product's do.
constexpr std::int64_t kBatchBytes = std::int64_t{1} << 30;
/// One product may take this part of the card's memory for its copies.
constexpr std::uint64_t kMemoryShare = 4;

/// In double: a problem may be larger than any number of bytes.
double copy_bytes(const Gemm& problem, GemmSplitKind kind, const GemmSplitTiling& largest) {
  const auto rows =
      static_cast<double>(largest.padded_rows_of_a(problem)) + static_cast<double>(largest.padded_rows_of_b(problem));
  const auto panels = static_cast<double>(ceil_div(problem.k, panel_depth(kind)));
  return rows * (panels * kSplitRowBytes + sizeof(GemmSplitNote));
}

class GemmSplitKernel final : public backend::Kernel {
 public:
  GemmSplitKernel(std::shared_ptr<Context> context, const Gemm& problem, GemmSplitKind kind,
                  const GemmSplitTiling& tiling, const GemmSplitLaunch::Products& products)
      : problem_(mathematics::gemm_as_computed(problem)),
        launch_(std::move(context), problem_, kind, tiling, products) {
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
      GemmSplitArguments gemm = launch_.arguments(std::min(problem_.batch - first, batch_of_launch_));
      gemm.a = pointer_to<const float>(operands[0]) + first * problem_.stride_a;
      gemm.b = pointer_to<const float>(operands[1]) + first * problem_.stride_b;
      gemm.c = pointer_to<float>(operands[2]) + first * problem_.stride_c;
      gemm.aligned_c = reinterpret_cast<std::uintptr_t>(gemm.c) % 8 == 0 && problem_.ldc % 2 == 0 &&
                       (gemm.batch == 1 || problem_.stride_c % 2 == 0);
      launch_both(queue, gemm, pointer_to<unsigned char>(workspace));
    }
  }

 private:
  [[nodiscard]] bool is_empty() const { return problem_.m == 0 || problem_.n == 0 || problem_.batch == 0; }
  [[nodiscard]] static std::int64_t matrices(std::int64_t stride, std::int64_t batch) {
    return stride == 0 ? 1 : batch;
  }

  /// Of panels and notes for so many matrices.
  [[nodiscard]] std::int64_t bytes_of(std::int64_t a_count, std::int64_t b_count) const {
    const auto of = [&](std::int64_t rows) { return launch_.panel_bytes(rows) + launch_.note_bytes(rows); };
    return of(a_count * launch_.rows_of_a()) + of(b_count * launch_.rows_of_b());
  }

  void launch_both(backend::Queue& queue, GemmSplitArguments& gemm, unsigned char* workspace) const {
    const std::int64_t a_count = matrices(problem_.stride_a, gemm.batch);
    const std::int64_t b_count = matrices(problem_.stride_b, gemm.batch);
    const std::int64_t a_rows = a_count * launch_.rows_of_a();
    const std::int64_t b_rows = b_count * launch_.rows_of_b();
    const auto take = [&](std::int64_t bytes) { return std::exchange(workspace, workspace + bytes); };
    GemmSplitSide a = launch_.side_a(gemm.a);
    GemmSplitSide b = launch_.side_b(gemm.b);
    gemm.a_panels = a.panels = take(launch_.panel_bytes(a_rows));
    gemm.b_panels = b.panels = take(launch_.panel_bytes(b_rows));
    gemm.a_notes = a.notes = reinterpret_cast<GemmSplitNote*>(take(launch_.note_bytes(a_rows)));
    gemm.b_notes = b.notes = reinterpret_cast<GemmSplitNote*>(take(launch_.note_bytes(b_rows)));
    launch_.prepare(queue, {a, a_count}, {b, b_count});
    launch_.multiply(queue, gemm);
  }

  Gemm problem_;
  GemmSplitLaunch launch_;
  std::int64_t batch_of_launch_ = 1;
};

}  // namespace

std::unique_ptr<backend::Kernel> make_gemm_split_kernel(std::shared_ptr<Context> context, const Gemm& problem,
                                                        GemmSplitKind kind, const GemmSplitTiling& tiling,
                                                        const GemmSplitLaunch::Products& products) {
  return std::make_unique<GemmSplitKernel>(std::move(context), problem, kind, tiling, products);
}

Verdict check_gemm_split_problem(const Gemm& problem, const backend::Device& device, GemmSplitKind kind,
                                 const char* variant, const GemmSplitTiling& largest) {
  if (kind == GemmSplitKind::split && problem.accuracy == Accuracy::strict) {
    return Verdict::no(
        sentence("the accuracy of gemm is strict, but ", variant, " makes each product from three of shorter numbers"));
  }
  if (kind == GemmSplitKind::scaled_half && problem.accuracy != Accuracy::fast) {
    return Verdict::no(sentence("the accuracy of gemm is ", to_string(problem.accuracy),
                                ", but must be fast: ", variant, " rounds A and B to 11 bits"));
  }
  if (problem.type != DataType::float32) {
    return Verdict::no(sentence("type of gemm is ", to_string(problem.type), ", but must be float32"));
  }
  const double bytes = copy_bytes(problem, kind, largest);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // so that k is below 2^31
  const std::uint64_t most = std::min<std::uint64_t>(native(device).info().memory_total_bytes / kMemoryShare, kMost);
  if (bytes > static_cast<double>(most)) {
    return Verdict::no(sentence("the prepared copies of A and B take ", bytes, " bytes, but must take at most ", most,
                                ", a quarter of the device's memory"));
  }
  return Verdict::yes();
}

std::string gemm_split_kernel_name(GemmSplitKind kind) {
  return kind == GemmSplitKind::split ? "tessera_gemm_split_" : "tessera_gemm_scaled_half_";
}

}  // namespace tessera::cuda
