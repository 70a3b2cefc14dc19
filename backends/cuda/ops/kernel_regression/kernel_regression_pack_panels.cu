// kernel_regression, exact_bytes on Hopper: rows of bytes as products by warp groups read them. A panel is a tile's
// rows; its rows lie in chunks of 16 bytes, first chunk 0 of all its rows, then chunk 1 of all: eight rows' chunks are
// 128 bytes that lie together, and any part of the columns is one piece of memory.
//
//   rows, as given                packed, panels of 4 rows     A warp packs eight rows, four chunks of each at a time,
//   | 0a 0b 0c                    | 0a 1a 2a 3a                and adds up their squared lengths. A row that is not
//   | 1a 1b 1c        ->          | 0b 1b 2b 3b                there becomes zeros and a length beyond all, and zeros
//   | 2a 2b 2c                    | 0c 1c 2c 3c                stand behind the last column.
//   | 3a 3b 3c
#include <climits>

#include "cuda_kernel_overlap.cuh"
#include "ops/kernel_regression/kernel_regression_pack.cuh"
#include "ops/kernel_regression/kernel_regression_tiles_arguments.h"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"

extern "C" __global__ void __launch_bounds__(32 * tessera::cuda::kRegressionPackWarps)
    tessera_kernel_regression_pack_panels_uint8(
        const __grid_constant__ tessera::cuda::RegressionPackArguments<std::uint8_t> pack) {
  using namespace tessera::cuda;
  let_next_kernel_start();
  wait_for_kernel_before();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warp = static_cast<std::int64_t>(blockIdx.x) * kRegressionPackWarps + threadIdx.x / 32;
  const std::int64_t in_round = warp * kPanelPackRows + lane % kPanelPackRows;
  if (in_round >= pack.padded_rows) return;  // so is the whole warp
  const std::int64_t row = pack.first_row + in_round;
  const bool is_there = row < pack.row_count;
  const std::uint8_t* const given = pack.rows + row * pack.columns;
  const bool is_aligned =
      (reinterpret_cast<std::uintptr_t>(pack.rows) | static_cast<std::uintptr_t>(pack.columns)) % kWideChunk == 0;
  const std::int64_t panel = in_round / pack.panel_rows;
  std::uint8_t* const packed =
      pack.packed + panel * pack.panel_rows * pack.depth + (in_round - panel * pack.panel_rows) * kWideChunk;
  static_assert(kWideChunk == kRegressionChunk);
  unsigned length = pack_chunks(given, is_there ? pack.columns : 0, is_aligned, lane / kPanelPackRows * kWideChunk,
                                32 / kPanelPackRows * kWideChunk, pack.depth, packed, pack.panel_rows);
#pragma unroll
  for (int apart = kPanelPackRows; apart < 32; apart *= 2) length += __shfl_xor_sync(0xffffffffU, length, apart);
  if (lane < kPanelPackRows) pack.lengths[in_round] = is_there ? static_cast<int>(length) : INT_MAX;
}
