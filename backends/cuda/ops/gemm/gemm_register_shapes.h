// The shapes that gemm's register variant is compiled for; read by host and device.
#pragma once

#include <cstddef>

#include "cuda_host_device.h"

namespace tessera::cuda {

/// How a stage of an operand stands in shared memory.
enum class GemmLayout {
  across,     ///< k lies across the operand's stored rows: a row for each step
  along,      ///< k lies along them: a row for each row or column of C
  turned,     ///< k lies along them, and they are turned once they have arrived: a row for each step
  scattered,  ///< k lies along them, and each element is copied to its place by itself: a row for each step
};

/// A group computes tile_m x tile_n elements of C. Its threads are `slices` times warps_m x warps_n warps: each slice
/// computes the whole tile from its share of the steps along k, and the slices' sums are added up at the end, so that a
/// small tile has many warps that each hold a large part of it in registers.
struct GemmRegisterShape {
  int tile_m;  ///< rows of C
  int tile_n;  ///< columns
  int depth;   ///< steps along k that are brought into shared memory at once
  int slices;
  int warps_m;
  int warps_n;
  int stages;          ///< of `depth` steps in shared memory, from sm_80 on; 2 before
  int blocks;          ///< groups that must fit on a multiprocessor together
  GemmLayout along_k;  ///< of operands whose stored rows run along k (gemm_register_fetch.cuh)

  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int elements() const { return tile_m * tile_n; }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int slice_threads() const { return warps_m * warps_n * 32; }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int threads() const { return slice_threads() * slices; }
};

// The shapes that the build compiles. Sums of a few dozen products are best computed by one slice: to add up slices
// through shared memory takes longer than they save. gemm_register_choice.cpp chooses among them.
inline constexpr GemmRegisterShape kGemmRegisterFloat32[]{
    {32, 32, 32, 4, 1, 1, 4, 4, GemmLayout::along},      {32, 128, 16, 1, 1, 4, 3, 4, GemmLayout::scattered},
    {128, 32, 16, 1, 4, 1, 3, 4, GemmLayout::scattered}, {32, 64, 32, 4, 1, 1, 4, 3, GemmLayout::along},
    {48, 64, 32, 2, 1, 2, 3, 4, GemmLayout::along},      {64, 64, 32, 4, 1, 1, 4, 2, GemmLayout::turned},
    {64, 128, 16, 2, 1, 2, 4, 2, GemmLayout::turned},    {64, 256, 16, 1, 2, 4, 3, 2, GemmLayout::turned},
    {128, 128, 16, 1, 2, 2, 4, 2, GemmLayout::turned}};
inline constexpr GemmRegisterShape kGemmRegisterFloat64[]{
    {32, 32, 64, 8, 1, 1, 3, 1, GemmLayout::along},  {32, 128, 16, 1, 1, 4, 3, 2, GemmLayout::along},
    {128, 32, 16, 1, 4, 1, 3, 2, GemmLayout::along}, {64, 32, 32, 4, 2, 1, 3, 2, GemmLayout::along},
    {64, 64, 32, 2, 2, 2, 3, 2, GemmLayout::along},  {128, 64, 32, 2, 2, 2, 3, 1, GemmLayout::along},
    {128, 128, 16, 1, 2, 4, 4, 1, GemmLayout::along}};

/// The shape of a type's tile. As a constant it does not compile for a tile that is not there.
template <class T>
[[nodiscard]] constexpr const GemmRegisterShape& gemm_register_shape(int tile_m, int tile_n) {
  const GemmRegisterShape* shape = sizeof(T) == 8 ? kGemmRegisterFloat64 : kGemmRegisterFloat32;
  while (shape->tile_m != tile_m || shape->tile_n != tile_n) ++shape;
  return *shape;
}

/// How an operand's stage stands; `aligned`: every stored row of both operands, and every part of k, begins at a
/// multiple of 16 bytes. Such rows are copied 16 bytes at a time, which scattering cannot do.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr GemmLayout layout_of(const GemmRegisterShape& shape, bool k_along_rows,
                                                                      bool aligned) {
  if (!k_along_rows) return GemmLayout::across;
  return aligned && shape.along_k == GemmLayout::scattered ? GemmLayout::along : shape.along_k;
}

/// Rows or columns of C that a stage has room for. Where k lies across, threads fetch whole rows of it, and there is a
/// power of two of them.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int stage_extent(int extent, GemmLayout layout) {
  if (layout != GemmLayout::across) return extent;
  int room = 32;
  while (room < extent) room *= 2;
  return room;
}

/// Bytes of both operands' stages in shared memory. `asynchronous`: sm_80 or newer.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr std::size_t bytes_of_stages(const GemmRegisterShape& shape,
                                                                             bool transpose_a, bool transpose_b,
                                                                             std::size_t element_bytes,
                                                                             bool asynchronous) {
  const auto operand = [&](int extent, GemmLayout layout) {
    const int stages = asynchronous ? shape.stages + (layout == GemmLayout::turned ? 2 : 0) : 2;
    return static_cast<std::size_t>(stages) * static_cast<std::size_t>(shape.depth) *
           static_cast<std::size_t>(stage_extent(extent, layout)) * element_bytes;
  };
  // Aligned or not: `along` takes as many bytes as `scattered`.
  return operand(shape.tile_m, layout_of(shape, !transpose_a, false)) +
         operand(shape.tile_n, layout_of(shape, transpose_b, false));
}

/// Bytes of shared memory of a group.
[[nodiscard]] constexpr std::size_t shared_bytes(const GemmRegisterShape& shape, bool transpose_a, bool transpose_b,
                                                 std::size_t element_bytes, bool asynchronous) {
  const std::size_t stages = bytes_of_stages(shape, transpose_a, transpose_b, element_bytes, asynchronous);
  const std::size_t sums = static_cast<std::size_t>(shape.slices * shape.elements()) * element_bytes;
  return stages > sums ? stages : sums;
}

/// The same where the sums of a tile go through shared memory on their way to C.
[[nodiscard]] constexpr std::size_t shared_bytes_with_c(const GemmRegisterShape& shape, bool transpose_a,
                                                        bool transpose_b, std::size_t element_bytes,
                                                        bool asynchronous) {
  const std::size_t stages = bytes_of_stages(shape, transpose_a, transpose_b, element_bytes, asynchronous);
  const int tiles = shape.slices > 1 ? shape.slices + 1 : 1;
  const std::size_t sums = static_cast<std::size_t>(tiles * shape.elements()) * element_bytes;
  return stages > sums ? stages : sums;
}

}  // namespace tessera::cuda
