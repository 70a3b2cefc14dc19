// The tiles of distances that "fused" and "exact_bytes" are compiled for; read by host and device.
#pragma once

#include <cstddef>

#include "ops/gemm/gemm_register_shapes.h"

namespace tessera::cuda {

/// A tile of bytes' distances: warps_q x warps_r warps compute `queries` x `rows` of them, from `stages` stages of
/// stage_bytes of each row in shared memory.
struct RegressionByteShape {
  int queries;
  int rows;
  int warps_q;
  int warps_r;
  int stage_bytes;
  int stages;
  int blocks;       ///< groups that must fit on a multiprocessor together
  bool keeps_tile;  ///< has room for all of a tile's distances behind the stages

  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int threads() const { return warps_q * warps_r * 32; }
};

// All tiles of a type have as many rows, and sums of one type grow by the same steps: so results have the same bits
// whatever the tile is. Among tiles that take equally long the first is preferred.
inline constexpr RegressionByteShape kRegressionByteShapes[]{{128, 128, 2, 2, 128, 3, 2, false},
                                                             {256, 128, 4, 2, 128, 3, 1, false},
                                                             {64, 128, 2, 2, 64, 4, 2, false},
                                                             {32, 128, 1, 4, 128, 6, 1, true}};

[[nodiscard]] constexpr const RegressionByteShape& regression_byte_shape(int queries, int rows) {
  const RegressionByteShape* shape = kRegressionByteShapes;
  while (shape->queries != queries || shape->rows != rows) ++shape;
  return *shape;
}

// Rows of C are queries, columns are training rows. One slice: a thread keeps what it computed. Packed rows lie side by
// side, so that k lies across what is stored: multiplying float32 in registers wants neighbouring rows, and of two of
// them the tensor cores of float64 take one step from registers that a load has filled in a row.
inline constexpr GemmRegisterShape kRegressionFloat32Shapes[]{{64, 128, 16, 1, 2, 2, 4, 3, GemmLayout::across},
                                                              {128, 128, 16, 1, 2, 2, 4, 2, GemmLayout::across},
                                                              {32, 128, 16, 1, 1, 4, 4, 4, GemmLayout::across}};
inline constexpr GemmRegisterShape kRegressionFloat64Shapes[]{{128, 64, 16, 1, 2, 2, 3, 2, GemmLayout::across},
                                                              {112, 64, 16, 1, 1, 4, 3, 2, GemmLayout::across},
                                                              {64, 64, 16, 1, 2, 2, 3, 3, GemmLayout::across},
                                                              {32, 64, 16, 1, 1, 4, 3, 4, GemmLayout::across}};

/// Queries that a stage has room for: the threads of a group fetch whole rows of it, so it is a power of two.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int stage_queries(const GemmRegisterShape& shape) {
  int queries = 32;
  while (queries < shape.tile_m) queries *= 2;
  return queries;
}

/// As a constant it does not compile for a tile that is not there.
template <class T>
[[nodiscard]] constexpr const GemmRegisterShape& regression_shape(int queries, int rows) {
  const GemmRegisterShape* shape = sizeof(T) == 8 ? kRegressionFloat64Shapes : kRegressionFloat32Shapes;
  while (shape->tile_m != queries || shape->tile_n != rows) ++shape;
  return *shape;
}

/// Places of a query's list of near rows, and what its part in meeting them takes in shared memory, where a distance
/// has so many bytes (RegressionMet of kernel_regression_meeting.cuh). So many that two groups of 128 x 128 fit on an
/// H200.
inline constexpr int kRegressionListed = 18;
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr std::size_t regression_met_bytes(int queries, int rows,
                                                                                  std::size_t distance_bytes,
                                                                                  int listed = kRegressionListed) {
  const auto places = static_cast<std::size_t>(listed + 1);
  const std::size_t query_bytes = (places + 3) * distance_bytes + static_cast<std::size_t>(rows) / 8 + sizeof(int);
  return static_cast<std::size_t>(queries) * query_bytes;
}

[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr std::size_t kept_bytes(const RegressionByteShape& shape) {
  return shape.keeps_tile ? static_cast<std::size_t>(shape.queries * (shape.rows + 1)) * sizeof(int) : 0;
}
/// Bytes of shared memory of a group.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr std::size_t shared_bytes(const RegressionByteShape& shape) {
  const auto rows = static_cast<std::size_t>(shape.rows);
  const auto stage = (static_cast<std::size_t>(shape.queries) + rows) * static_cast<std::size_t>(shape.stage_bytes);
  return (static_cast<std::size_t>(shape.stages) * (stage + rows * sizeof(int)) +
          regression_met_bytes(shape.queries, shape.rows, sizeof(int), shape.keeps_tile ? 0 : kRegressionListed) +
          127) /
             128 * 128 +
         kept_bytes(shape);
}
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr std::size_t stage_bytes_of_fused(const GemmRegisterShape& shape,
                                                                                  std::size_t number_bytes,
                                                                                  bool asynchronous) {
  GemmRegisterShape fetched = shape;
  fetched.tile_m = stage_queries(shape);
  return bytes_of_stages(fetched, true, false, number_bytes, asynchronous);
}
/// Do a small tile's distances go where its stages were while its queries meet them? Then its near rows, which may be
/// all, need not be listed again and again.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr bool keeps_tile_in_stages(const GemmRegisterShape& shape,
                                                                           std::size_t number_bytes,
                                                                           bool asynchronous) {
  const auto kept = static_cast<std::size_t>(shape.tile_m * (shape.tile_n + 1)) * number_bytes;
  return shape.threads() / shape.tile_m > 1 && kept <= stage_bytes_of_fused(shape, number_bytes, asynchronous);
}
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr std::size_t shared_bytes_of_fused(const GemmRegisterShape& shape,
                                                                                   std::size_t number_bytes,
                                                                                   bool asynchronous) {
  const auto lengths = static_cast<std::size_t>(shape.tile_m + shape.tile_n);
  const int listed = keeps_tile_in_stages(shape, number_bytes, asynchronous) ? 0 : kRegressionListed;
  return stage_bytes_of_fused(shape, number_bytes, asynchronous) + lengths * number_bytes +
         regression_met_bytes(shape.tile_m, shape.tile_n, number_bytes, listed);
}

}  // namespace tessera::cuda
