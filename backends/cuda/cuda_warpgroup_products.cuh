// Hopper's products by a warp group, four warps that start together at a multiple of four: 64 rows of A by 128 (120,
// 112, 72, 64) columns of B, both from shared memory, while the threads go on. Sums are spread as of mma.sync: warp w
// of the group has the rows 16 w .. + 15, and lane 4 g + t of them rows g and g + 8 and of every 8 columns 2 t and
// 2 t + 1:
//
//   sum[4 j + 0], [4 j + 1]   row g,     columns 8 j + 2 t and + 1
//   sum[4 j + 2], [4 j + 3]   row g + 8, the same columns
//
// Operands lie as chunks of 16 bytes, which are 16 steps of k (8 of fp16): chunk c of all rows, then chunk c + 1 of all
// rows. Eight rows' chunks are 128 bytes that lie together, so that no two share a bank, and any part of k is one piece
// of memory.
#pragma once

#include "cuda_bulk_copy.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// What of an operand does not depend on where it lies: 128 bytes of eight rows' chunks.
inline constexpr std::uint64_t kOperandRows = std::uint64_t{128 >> 4} << 32;
/// An operand that begins at `first`, a multiple of 16, whose next chunk lies `chunk_bytes` further.
__device__ __forceinline__ std::uint64_t operand_in_chunks(const void* first, unsigned chunk_bytes) {
  return (shared_address(first) >> 4 & 0x3fff) | chunk_bytes >> 4 << 16 | kOperandRows;
}
/// The operand that lies 16 * `sixteenths` bytes further: an addition of 32 bits.
__device__ __forceinline__ std::uint64_t operand_beside(std::uint64_t operand, unsigned sixteenths) {
  return (static_cast<std::uint32_t>(operand) + sixteenths) | kOperandRows;
}

/// Before a group's first products, and after other code has touched its sums.
__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Products since the last call belong together.
__device__ __forceinline__ void close_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until all but the last kPending such groups have ended.
template <int kPending>
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// The compiler must not move what reads sums before this.
__device__ __forceinline__ void hold(int (&sum)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+r"(sum[i])::"memory");
}

template <int kSums>
__device__ __forceinline__ void hold(float (&sum)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}

// An instruction names each of its sums twice: as a register in its text and as an operand behind that.
#define TESSERA_REGISTERS_32                                               \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TESSERA_REGISTERS_36 TESSERA_REGISTERS_32 ", %32, %33, %34, %35"
#define TESSERA_REGISTERS_64                                                         \
  TESSERA_REGISTERS_32                                                               \
  ", "                                                                               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TESSERA_REGISTERS_56                                                         \
  TESSERA_REGISTERS_32                                                               \
  ", "                                                                               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55"
#define TESSERA_REGISTERS_60 TESSERA_REGISTERS_56 ", %56, %57, %58, %59"
#define TESSERA_SUMS_4(how, i) how(sum[i]), how(sum[(i) + 1]), how(sum[(i) + 2]), how(sum[(i) + 3])
#define TESSERA_SUMS_16(how, i) \
  TESSERA_SUMS_4(how, i), TESSERA_SUMS_4(how, (i) + 4), TESSERA_SUMS_4(how, (i) + 8), TESSERA_SUMS_4(how, (i) + 12)
#define TESSERA_SUMS_32(how) TESSERA_SUMS_16(how, 0), TESSERA_SUMS_16(how, 16)
#define TESSERA_SUMS_36(how) TESSERA_SUMS_32(how), TESSERA_SUMS_4(how, 32)
#define TESSERA_SUMS_56(how) \
  TESSERA_SUMS_32(how), TESSERA_SUMS_16(how, 32), TESSERA_SUMS_4(how, 48), TESSERA_SUMS_4(how, 52)
#define TESSERA_SUMS_60(how) TESSERA_SUMS_56(how), TESSERA_SUMS_4(how, 56)
#define TESSERA_SUMS_64(how) TESSERA_SUMS_32(how), TESSERA_SUMS_16(how, 32), TESSERA_SUMS_16(how, 48)

/// Starts the first products of 32 bytes of k: what the sums were before does not count, and their registers are free
/// until then.
__device__ __forceinline__ void multiply_first_64x128(int (&sum)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 {" TESSERA_REGISTERS_64
      "}, "
      "%64, %65, adds;\n"
      "}"
      : TESSERA_SUMS_64("=r")
      : "l"(a), "l"(b));
}
/// Starts the next products of 32 bytes of k, which are added.
__device__ __forceinline__ void multiply_64x128(int (&sum)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.eq.b32 adds, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 {" TESSERA_REGISTERS_64
      "}, "
      "%64, %65, adds;\n"
      "}"
      : TESSERA_SUMS_64("+r")
      : "l"(a), "l"(b));
}
/// Starts the products of 16 steps of fp16, by 128, 120, 112, 72 or 64 columns of B; the sums before count if `adds`.
/// Products are exact; a sum is cut off, not rounded, each time.
__device__ __forceinline__ void multiply_64x128(float (&sum)[64], std::uint64_t a, std::uint64_t b, bool adds) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" TESSERA_REGISTERS_64
      "}, "
      "%64, %65, adds, 1, 1, 0, 0;\n"
      "}"
      : TESSERA_SUMS_64("+f")
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}
__device__ __forceinline__ void multiply_64x120(float (&sum)[60], std::uint64_t a, std::uint64_t b, bool adds) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %62, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n120k16.f32.f16.f16 {" TESSERA_REGISTERS_60
      "}, "
      "%60, %61, adds, 1, 1, 0, 0;\n"
      "}"
      : TESSERA_SUMS_60("+f")
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}
__device__ __forceinline__ void multiply_64x112(float (&sum)[56], std::uint64_t a, std::uint64_t b, bool adds) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %58, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n112k16.f32.f16.f16 {" TESSERA_REGISTERS_56
      "}, "
      "%56, %57, adds, 1, 1, 0, 0;\n"
      "}"
      : TESSERA_SUMS_56("+f")
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}
__device__ __forceinline__ void multiply_64x72(float (&sum)[36], std::uint64_t a, std::uint64_t b, bool adds) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %38, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n72k16.f32.f16.f16 {" TESSERA_REGISTERS_36
      "}, "
      "%36, %37, adds, 1, 1, 0, 0;\n"
      "}"
      : TESSERA_SUMS_36("+f")
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}
__device__ __forceinline__ void multiply_64x64(float (&sum)[32], std::uint64_t a, std::uint64_t b, bool adds) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" TESSERA_REGISTERS_32
      "}, "
      "%32, %33, adds, 1, 1, 0, 0;\n"
      "}"
      : TESSERA_SUMS_32("+f")
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}

#undef TESSERA_SUMS_64
#undef TESSERA_SUMS_60
#undef TESSERA_SUMS_56
#undef TESSERA_SUMS_36
#undef TESSERA_SUMS_32
#undef TESSERA_SUMS_16
#undef TESSERA_SUMS_4
#undef TESSERA_REGISTERS_64
#undef TESSERA_REGISTERS_60
#undef TESSERA_REGISTERS_56
#undef TESSERA_REGISTERS_36
#undef TESSERA_REGISTERS_32

#endif  // TESSERA_CUDA_IS_HOPPER

}  // namespace tessera::cuda
