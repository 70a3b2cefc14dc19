// gemm, register: which warps compute a tile, for each type and shape of gemm_register_shapes.h; for the kernel files
// that the build compiles once a shape.
#pragma once

#include "ops/gemm/gemm_register_fma.cuh"
#include "ops/gemm/gemm_register_mma.cuh"

namespace tessera::cuda {

// The types by the names that the build and the kernels have for them.
using float32 = float;
using float64 = double;

template <class T, int kTileM, int kTileN>
struct GemmRegisterWarp;

/// Four warps where one would do, to hide each other's waiting: a thread holds 4 x 8 elements.
template <>
struct GemmRegisterWarp<float, 32, 32> : FmaWarp<32, 32, 8, true, true> {};
/// 8 x 8 and 12 x 4 elements, for products that 64 rows would leave empty in part.
template <>
struct GemmRegisterWarp<float, 32, 64> : FmaWarp<32, 64, 4, true, true> {};
template <>
struct GemmRegisterWarp<float, 48, 64> : FmaWarp<48, 32, 4, true, true> {};
/// The largest tile of a thread, 8 x 16 elements, in the smallest of a block that it allows.
template <>
struct GemmRegisterWarp<float, 64, 64> : FmaWarp<64, 64, 8, false, true> {};
/// 16 x 8 elements.
template <>
struct GemmRegisterWarp<float, 64, 128> : FmaWarp<64, 64, 4, true> {};
/// 8 x 16 elements.
template <>
struct GemmRegisterWarp<float, 128, 128> : FmaWarp<64, 64, 8, false> {};

/// 4 x 8 and 8 x 8 elements, without slices.
template <>
struct GemmRegisterWarp<float, 32, 128> : FmaWarp<32, 32, 8, true, true> {};
template <>
struct GemmRegisterWarp<float, 128, 32> : FmaWarp<32, 32, 8, true, true> {};
template <>
struct GemmRegisterWarp<float, 64, 256> : FmaWarp<32, 64, 4, true, true> {};

/// 2 x 4 of the instruction's tiles of 16 x 8, whatever the block's tile.
template <int kTileM, int kTileN>
struct GemmRegisterWarp<double, kTileM, kTileN> : MmaWarp<32, 32> {};
/// 4 x 4 of them in the large tiles: they read a quarter less from shared memory for a product, which costs power, and
/// power is what holds the clock back.
template <>
struct GemmRegisterWarp<double, 128, 64> : MmaWarp<64, 32> {};
template <>
struct GemmRegisterWarp<double, 128, 128> : MmaWarp<64, 32> {};

}  // namespace tessera::cuda
