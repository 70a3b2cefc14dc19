// cnn_layer, implicit_gemm_split: the kernel. As in implicit_gemm the second matrix is never stored, but pixels are
// split into fp16 once (cnn_layer_split_pixels.cuh), and gathered in chunks of 8 channels:
//
//                        pixels: chunks x columns       Tiles are multiplied as gemm's split_mma does it
//                        +----------+-----+             (cuda_split_mma_products.cuh). A stage of pixels lies in shared
//                        |          |stage|             memory as a stage of a panel would: a thread gathers chunks of
//   weights:             +----------+-----+             one column, each one copy of 16 bytes for either plane, and
//   outputs x chunks     result                         asks once for a chunk whether the filter's place lies inside of
//   +---+---+-------     +----------+-----+             the image. Neighbouring threads have neighbouring columns,
//   |   |   | panels     |          |tile |             whose chunks lie beside each other with a stride of 1.
//   +---+---+-------     +----------+-----+
//
// A chunk is read outputs / tile rows times from L2 for each place of the filter.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "ops/cnn_layer/cnn_layer_split_store.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_HAS_SPLIT_MMA)

/// A thread's part in fetching the stages of pixels, as SplitPanelFetch fetches those of a panel.
template <SplitMmaShape kShape>
class SplitPixelFetch {
 public:
  __device__ __forceinline__ SplitPixelFetch(const CnnLayerSplitArguments& arguments, int first_column)
      : arguments_(arguments), place_(arguments.layer, first_column + its_column()), left_(arguments.chunks) {
    from_ = arguments.pixels + place_.image * arguments.image_bytes +
            (static_cast<std::int64_t>(place_.y) * arguments.layer.width + place_.x) * kSplitChunkBytes;
    advance(its_chunk());
  }

  __device__ __forceinline__ void start(unsigned char* stage) {
    unsigned char* const to = stage + (its_chunk() * kShape.tile_n() + its_column()) * kSplitChunkBytes;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool inside = left_ > 0 && place_.has(arguments_.layer, i_, j_);
      const unsigned char* const from = inside ? from_ : arguments_.pixels;
#pragma unroll
      for (int plane = 0; plane < kSplitPlanes; ++plane) {
        copy_asynchronously<kSplitChunkBytes>(to + (plane * kChunks + i) * kShape.tile_n() * kSplitChunkBytes,
                                              from + (inside ? plane * arguments_.plane_bytes : 0),
                                              inside ? kSplitChunkBytes : 0);
      }
      advance(1);
    }
    advance(kChunks - kCount);
  }

 private:
  static constexpr int kChunks = kShape.steps * kSplitStepChunks;              ///< of a stage
  static constexpr int kCount = kChunks * kShape.tile_n() / kShape.threads();  ///< that a thread fetches
  static_assert(kCount > 0 && kShape.threads() % kShape.tile_n() == 0 && kChunks % kCount == 0);

  [[nodiscard]] static __device__ __forceinline__ int its_column() {
    return static_cast<int>(threadIdx.x) % kShape.tile_n();
  }
  /// The first of a stage.
  [[nodiscard]] static __device__ __forceinline__ int its_chunk() {
    return static_cast<int>(threadIdx.x) / kShape.tile_n() * kCount;
  }

  __device__ __forceinline__ void advance(int chunks) {
    const CnnLayerGemmArguments<float>& layer = arguments_.layer;
    left_ -= chunks;
    for (int i = 0; i < chunks; ++i) {
      from_ += kSplitChunkBytes;
      if (++j_ < layer.filter_width) continue;
      j_ = 0;
      from_ += static_cast<std::int64_t>(layer.width - layer.filter_width) * kSplitChunkBytes;
      if (++i_ < layer.filter_height) continue;
      i_ = 0;
      from_ += kSplitPlanes * arguments_.plane_bytes -
               static_cast<std::int64_t>(layer.filter_height) * layer.width * kSplitChunkBytes;
    }
  }

  const CnnLayerSplitArguments& arguments_;
  PixelPlace place_;
  const unsigned char* from_;  // the next chunk of rounded numbers, if it is one
  int left_;                   // chunks from there on
  int i_ = 0;                  // place of the filter
  int j_ = 0;
};

#endif  // TESSERA_CUDA_HAS_SPLIT_MMA

template <SplitMmaShape kShape>
__device__ __forceinline__ void cnn_layer_implicit_gemm_split(const CnnLayerSplitArguments& arguments) {
#if defined(TESSERA_CUDA_HAS_SPLIT_MMA)
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  wait_for_kernel_before();
  let_next_kernel_start();
  const int block = static_cast<int>(blockIdx.x);
  const int first_row = block % arguments.layer.tiles_m * kShape.tile_m();
  const int first_column = block / arguments.layer.tiles_m * kShape.tile_n();
  SplitPanelFetch<kShape.tile_m(), kShape.steps, kShape.threads()> weights(
      arguments.panels + static_cast<std::int64_t>(first_row) * arguments.panel_count * kSplitRowBytes);
  SplitPixelFetch<kShape> pixels(arguments, first_column);
  SplitMmaSums<kShape> total;
  multiply_split_stages<kShape, true>(total, shared_bytes_of_block, weights, pixels, arguments.stages);
  store_split_layer<kShape>(arguments, total, reinterpret_cast<SplitColumn*>(shared_bytes_of_block), first_row,
                            first_column);
#else
  __trap();
#endif
}

}  // namespace tessera::cuda
