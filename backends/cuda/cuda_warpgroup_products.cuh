// Hopper's products by a warp group, four warps that start together at a multiple of four: 64 rows of A by 128 (or 64)
// columns of B, both from shared memory, while the threads go on. Sums are spread as of mma.sync: warp w of the group
// has the rows 16 w .. + 15, and lane 4 g + t of them rows g and g + 8 and of every 8 columns 2 t and 2 t + 1:
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

/// Starts the first products of 32 bytes of k: what the sums were before does not count, and their registers are free
/// until then.
__device__ __forceinline__ void multiply_first_64x128(int (&sum)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, adds;\n"
      "}"
      : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3]), "=r"(sum[4]), "=r"(sum[5]), "=r"(sum[6]), "=r"(sum[7]),
        "=r"(sum[8]), "=r"(sum[9]), "=r"(sum[10]), "=r"(sum[11]), "=r"(sum[12]), "=r"(sum[13]), "=r"(sum[14]),
        "=r"(sum[15]), "=r"(sum[16]), "=r"(sum[17]), "=r"(sum[18]), "=r"(sum[19]), "=r"(sum[20]), "=r"(sum[21]),
        "=r"(sum[22]), "=r"(sum[23]), "=r"(sum[24]), "=r"(sum[25]), "=r"(sum[26]), "=r"(sum[27]), "=r"(sum[28]),
        "=r"(sum[29]), "=r"(sum[30]), "=r"(sum[31]), "=r"(sum[32]), "=r"(sum[33]), "=r"(sum[34]), "=r"(sum[35]),
        "=r"(sum[36]), "=r"(sum[37]), "=r"(sum[38]), "=r"(sum[39]), "=r"(sum[40]), "=r"(sum[41]), "=r"(sum[42]),
        "=r"(sum[43]), "=r"(sum[44]), "=r"(sum[45]), "=r"(sum[46]), "=r"(sum[47]), "=r"(sum[48]), "=r"(sum[49]),
        "=r"(sum[50]), "=r"(sum[51]), "=r"(sum[52]), "=r"(sum[53]), "=r"(sum[54]), "=r"(sum[55]), "=r"(sum[56]),
        "=r"(sum[57]), "=r"(sum[58]), "=r"(sum[59]), "=r"(sum[60]), "=r"(sum[61]), "=r"(sum[62]), "=r"(sum[63])
      : "l"(a), "l"(b));
}
/// Starts the next products of 32 bytes of k, which are added.
__device__ __forceinline__ void multiply_64x128(int (&sum)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.eq.b32 adds, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, adds;\n"
      "}"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3]), "+r"(sum[4]), "+r"(sum[5]), "+r"(sum[6]), "+r"(sum[7]),
        "+r"(sum[8]), "+r"(sum[9]), "+r"(sum[10]), "+r"(sum[11]), "+r"(sum[12]), "+r"(sum[13]), "+r"(sum[14]),
        "+r"(sum[15]), "+r"(sum[16]), "+r"(sum[17]), "+r"(sum[18]), "+r"(sum[19]), "+r"(sum[20]), "+r"(sum[21]),
        "+r"(sum[22]), "+r"(sum[23]), "+r"(sum[24]), "+r"(sum[25]), "+r"(sum[26]), "+r"(sum[27]), "+r"(sum[28]),
        "+r"(sum[29]), "+r"(sum[30]), "+r"(sum[31]), "+r"(sum[32]), "+r"(sum[33]), "+r"(sum[34]), "+r"(sum[35]),
        "+r"(sum[36]), "+r"(sum[37]), "+r"(sum[38]), "+r"(sum[39]), "+r"(sum[40]), "+r"(sum[41]), "+r"(sum[42]),
        "+r"(sum[43]), "+r"(sum[44]), "+r"(sum[45]), "+r"(sum[46]), "+r"(sum[47]), "+r"(sum[48]), "+r"(sum[49]),
        "+r"(sum[50]), "+r"(sum[51]), "+r"(sum[52]), "+r"(sum[53]), "+r"(sum[54]), "+r"(sum[55]), "+r"(sum[56]),
        "+r"(sum[57]), "+r"(sum[58]), "+r"(sum[59]), "+r"(sum[60]), "+r"(sum[61]), "+r"(sum[62]), "+r"(sum[63])
      : "l"(a), "l"(b));
}
/// Starts the products of 16 steps of fp16, by 128 or 64 columns of B; the sums before count if `adds`. Products are
/// exact; a sum is cut off, not rounded, each time.
__device__ __forceinline__ void multiply_64x128(float (&sum)[64], std::uint64_t a, std::uint64_t b, bool adds) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, adds, 1, 1, 0, 0;\n"
      "}"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
        "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]),
        "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]),
        "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]),
        "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]), "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]),
        "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]),
        "+f"(sum[43]), "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]), "+f"(sum[48]), "+f"(sum[49]),
        "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]), "+f"(sum[56]),
        "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63])
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}
__device__ __forceinline__ void multiply_64x64(float (&sum)[32], std::uint64_t a, std::uint64_t b, bool adds) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, adds, 1, 1, 0, 0;\n"
      "}"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
        "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]),
        "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]),
        "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]),
        "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31])
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}

#endif  // TESSERA_CUDA_IS_HOPPER

}  // namespace tessera::cuda
