// Which shape of gemm's register variant computes a problem, and over how many groups k is split.
#pragma once

#include <tessera/ops/gemm.h>

#include <cstdint>
#include <span>

#include "cuda_context.h"
#include "cuda_module.h"
#include "ops/gemm/gemm_register_shapes.h"

namespace tessera::cuda {

/// A shape with the image that holds its kernels.
struct GemmRegisterImage {
  GemmRegisterShape shape;
  Image image;
};

/// What is compiled for a type, the smallest tile first.
[[nodiscard]] std::span<const GemmRegisterImage> gemm_register_images(DataType type);

/// The one of these images whose tile holds so many elements; there is one.
[[nodiscard]] const GemmRegisterImage& image_of_tile(std::span<const GemmRegisterImage> images, std::int64_t elements);

/// A configuration, as the tunables name it.
struct GemmRegisterChoice {
  std::int64_t tile = 0;  ///< elements of C of one group
  std::int64_t split_k = 1;
};

/// The configuration that is expected to be fastest, of those with one of `tiles` (empty: of all). `max_split` is at
/// least 1.
[[nodiscard]] GemmRegisterChoice choose_gemm_register(const Gemm& problem, const DeviceLimits& card,
                                                      std::int64_t max_split, std::span<const std::int64_t> tiles = {});

/// So much shared memory for each group that no more groups fit on a multiprocessor than an even spread gives it.
/// Without that the card sends groups of a cluster, and of a kernel that overlaps the one before, to a few
/// multiprocessors while others stay idle: at 256 x 512 x 1024 that takes 16 us instead of 11 on an H200.
[[nodiscard]] std::size_t bytes_that_spread(const GemmRegisterShape& shape, std::int64_t groups,
                                            const DeviceLimits& card);

}  // namespace tessera::cuda
