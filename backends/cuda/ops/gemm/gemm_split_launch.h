// The launches of gemm's variants by fp16: preparing operands, and multiplying prepared ones. The products of
// cnn_layer's winograd_split are launched from here too, whose pixels are prepared elsewhere, and the weights of its
// implicit_gemm_split are prepared from here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <tessera/ops/gemm.h>

#include "backend/backend.h"
#include "backend/variant.h"
#include "cuda_context.h"
#include "mathematics/division.h"
#include "ops/gemm/gemm_split_arguments.h"
#include "ops/gemm/gemm_split_choice.h"

namespace tessera::cuda {

/// Yes if the library has the kernels and the card their tensor cores: of Hopper's warp groups, and of sm_80 and newer.
[[nodiscard]] backend::Verdict check_split_card(const backend::Device& device);
[[nodiscard]] backend::Verdict check_split_mma_card(const backend::Device& device);

class GemmSplitLaunch {
 public:
  /// The kernels that multiply: `name` and a shape behind it, as in "tessera_gemm_split_128x64". `neighbours`, if it is
  /// not empty, the same where C is not aligned.
  struct Products {
    const Image& image;
    std::string name;
    std::string neighbours{};
  };

  /// Of a problem as it is computed (mathematics/gemm_as_computed.h), prepared as for one of the two kinds of variants.
  GemmSplitLaunch(std::shared_ptr<Context> context, const Gemm& problem, GemmSplitKind kind,
                  const GemmSplitTiling& tiling, const Products& products);

  /// Rows of one A and one B with those that fill up a cluster's last tile.
  [[nodiscard]] std::int64_t rows_of_a() const noexcept { return rows_of_a_; }
  [[nodiscard]] std::int64_t rows_of_b() const noexcept { return rows_of_b_; }
  /// That a row has.
  [[nodiscard]] std::int64_t panels() const noexcept { return panels_; }
  /// Of the panels of so many rows, and of their notes.
  [[nodiscard]] std::int64_t panel_bytes(std::int64_t rows) const noexcept { return rows * panels_ * kSplitRowBytes; }
  [[nodiscard]] static std::int64_t note_bytes(std::int64_t rows) noexcept {
    constexpr std::int64_t kAlignment = 256;
    return mathematics::round_up(rows * std::int64_t{sizeof(GemmSplitNote)}, kAlignment);
  }

  /// The doubt for each element that fp16 holds with fewer bits than others.
  [[nodiscard]] float doubt_of_one() const noexcept { return doubt_of_one_; }

  /// All of a batch of products but the addresses.
  [[nodiscard]] GemmSplitArguments arguments(std::int64_t batch) const;
  /// A side of so many matrices to be prepared, but for the addresses of what is written.
  [[nodiscard]] GemmSplitSide side_a(const float* values) const;
  [[nodiscard]] GemmSplitSide side_b(const float* values) const;
  /// Prepares so many matrices of each side; none leaves a side out.
  void prepare(backend::Queue& queue, const std::pair<GemmSplitSide, std::int64_t>& a,
               const std::pair<GemmSplitSide, std::int64_t>& b) const;
  void multiply(backend::Queue& queue, GemmSplitArguments& gemm) const;

 private:
  std::shared_ptr<Context> context_;  // the functions live as long as their context
  Gemm problem_;
  GemmSplitTiling tiling_;
  std::int64_t panels_;
  std::int64_t depth_;
  std::int64_t rows_of_a_;
  std::int64_t rows_of_b_;
  float doubt_of_one_;
  CUfunction prepare_ = nullptr;
  CUfunction multiply_ = nullptr;
  CUfunction multiply_unaligned_ = nullptr;  ///< the same function where there is no other
};

}  // namespace tessera::cuda
