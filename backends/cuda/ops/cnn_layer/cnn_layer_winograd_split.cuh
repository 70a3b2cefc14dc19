// cnn_layer, winograd_split: pixels are transformed into the form in which the tensor cores multiply them.
//
//   16 tiles x 8 channels            shared memory      16 tiles x rows of points        panels (cuda_split_shape.h)
//   a thread for each patch, or      points that are    a thread for each, or for        16 rows x 16 bytes of what
//   half of its columns: read,   ->  transformed    ->  half of the channels: trans- ->  was rounded, and as much of
//   transform down                   down, float32      form along, multiply, split      what rounding left
//
// In panels the channels of a point lie together, so the second half of the transform is done by threads that hold
// several channels of their points: what they split is stored as it is. Blocks beside each other take the same tiles,
// so that what is written at one time lies together. On an H100 that takes 102 us for the study's layer in tiles of
// 4 x 4, with 50 MB read and 190 written; a thread that transformed a whole patch and passed split points on through
// shared memory took 112.
//
// Channels of a tile are added up, so they share one power of two. It follows from the largest of the patch's
// magnitudes (each pixel's sum over the channels), which no transformed pixel exceeds by more than the transform's
// growth. A number far below that bound loses its last bits, and what that adds to a sum's error counts as doubt
// (CnnLayerWinogradArguments::doubt_of_largest; docs/decisions/0026).
#pragma once

#include <type_traits>

#include "cuda_split_elements.cuh"
#include "ops/cnn_layer/cnn_layer_winograd.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_split_arguments.h"

namespace tessera::cuda {

/// Which channel is number i of a chunk, as gemm_split_prepare.cuh puts the weights' channels: of 32 of them chunk q
/// holds 4 q .. + 3 and 16 + 4 q .. + 3.
__device__ __forceinline__ int channel_of_chunk(int chunk, int i) {
  return chunk / 4 * 32 + chunk % 4 * 4 + i + i / 4 * 12;
}

/// The power of two for each of a group's tiles, by groups of eight lanes.
template <class Form>
__device__ __forceinline__ void find_shifts(const CnnLayerWinogradSplitArguments& arguments, int first, int* shifts) {
  constexpr int kLanes = 8;
  static_assert(kCnnLayerWinogradThreads == kLanes * kCnnLayerWinogradSplitTiles);
  const CnnLayerWinogradArguments& layer = arguments.layer;
  const int its = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  float most = 0;
  if (first + its < layer.tiles) {
    const WinogradTile place(layer, first + its);
    const int y0 = place.row * Form::kOutputsY - layer.padding;
    const int x0 = place.column * Form::kOutputsX - layer.padding;
    const float* const plane = layer.magnitudes + static_cast<std::int64_t>(place.image) * layer.height * layer.width;
    for (int x = x0 + lane; x < x0 + Form::kPointsX; x += kLanes) {
#pragma unroll
      for (int y = 0; y < Form::kPointsY; ++y) {
        const bool is_pixel = static_cast<unsigned>(x) < static_cast<unsigned>(layer.width) &&
                              static_cast<unsigned>(y0 + y) < static_cast<unsigned>(layer.height);
        if (is_pixel) most = fmaxf(most, plane[static_cast<std::int64_t>(y0 + y) * layer.width + x]);
      }
    }
  }
  most = largest_of_lanes<kLanes>(most);
  const unsigned bits = __float_as_uint(most);
  // most < 2^(its exponent + 1), so that transformed pixels come to lie below 2^14. Infinite ones are in doubt.
  const bool has_shift = bits != 0 && bits < kInfinityBits;
  if (lane == 0) shifts[its] = has_shift ? shift_of_largest(bits) - 1 - arguments.growth_power : 0;
}

/// Where the points of a group's tiles lie in shared memory between the transforms down and along: kRuns runs of
/// kVector points for each tile, channel and row. No two lanes that read or write at once meet at a bank: of runs of
/// four points the second half of the channels begins half of a tile's points further; of runs of two, tiles lie beside
/// each other, their halves changed where either the run or the channel is one of the second part.
template <class Form>
struct WinogradSplitPoints {
  static constexpr int kRows = Form::kPointsY, kColumns = Form::kPointsX;
  static constexpr int kParts = cnn_layer_winograd_split_parts(kColumns), kVector = kColumns % 4 == 0 ? 4 : 2;
  static constexpr int kRuns = kColumns / kVector;
  static constexpr int kTiles = kCnnLayerWinogradSplitTiles, kChannels = kCnnLayerWinogradSplitChannels;
  /// Runs of a part, and points of the run in the middle that it has besides.
  static constexpr int kPartRuns = kRuns / kParts, kPartRest = kRuns % kParts * kVector / kParts;
  static constexpr int kPartColumns = kPartRuns * kVector + kPartRest;
  static constexpr bool kReadsAhead = cnn_layer_winograd_split_reads_ahead(Form::kPoints);
  using Points = Run<float, kVector>;
  Points runs[kChannels * kRows * kTiles * kRuns + 1];

  [[nodiscard]] __device__ __forceinline__ Points& at(int channel, int row, int tile, int run) {
    const int of_row = channel * kRows + row;
    if constexpr (kParts == 1) {
      return runs[(of_row * kRuns + run) * kTiles + tile];
    } else if constexpr (kVector == 4) {
      return runs[(of_row * kTiles + tile) * kRuns + run + channel / (kChannels / kParts)];
    } else {
      const bool is_changed = (run > kPartRuns) != (channel >= kChannels / kParts);
      return runs[(of_row * kRuns + run) * kTiles + (is_changed ? tile ^ (kTiles / 2) : tile)];
    }
  }

  /// A part's columns of a channel's patch: those of its runs, and its own of the run in the middle.
  static __device__ __forceinline__ void read(const CnnLayerWinogradArguments& layer, const WinogradTile& place,
                                              int channel, int part, float* value) {
    constexpr int kOfRuns = kPartRuns * kVector;
    read_columns<Form, kOfRuns, kPartColumns>(layer, place, channel, part * (kOfRuns + kPartRest * 2), value);
    if constexpr (kPartRest > 0) {
      read_columns<Form, kPartRest, kPartColumns>(layer, place, channel, kOfRuns + part * kPartRest, value + kOfRuns);
    }
  }
  /// Has the L2 cache fetch what read() will want later: memory answers later than a chunk takes.
  static __device__ __forceinline__ void prefetch(const CnnLayerWinogradArguments& layer, const WinogradTile& place,
                                                  int channel, int part) {
    const int y0 = place.row * Form::kOutputsY - layer.padding;
    const int x0 = place.column * Form::kOutputsX - layer.padding + part * kPartColumns;
    if (static_cast<unsigned>(x0) >= static_cast<unsigned>(layer.width)) return;
    const float* row =
        layer.input + (static_cast<std::int64_t>(place.image) * layer.channels + channel) * layer.height * layer.width +
        static_cast<std::int64_t>(y0) * layer.width + x0;
#pragma unroll
    for (int y = 0; y < kRows; ++y, row += layer.width) {
      if (static_cast<unsigned>(y0 + y) < static_cast<unsigned>(layer.height)) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(row));
      }
    }
  }
  /// A part's transformed columns of a row.
  __device__ __forceinline__ void write(int channel, int row, int tile, int part, const float* value) {
#pragma unroll
    for (int run = 0; run < kPartRuns; ++run) {
      Points written;
#pragma unroll
      for (int j = 0; j < kVector; ++j) written.element[j] = value[run * kVector + j];
      at(channel, row, tile, part * (kRuns - kPartRuns) + run) = written;
    }
#pragma unroll
    for (int i = 0; i < kPartRest; ++i) {
      at(channel, row, tile, kPartRuns).element[part * kPartRest + i] = value[kPartRuns * kVector + i];
    }
  }
};

/// The power of two of a tile as two factors, because it may go beyond what float32 holds.
struct WinogradSplitFactor {
  __device__ __forceinline__ explicit WinogradSplitFactor(int shift)
      : first(power_of_two(max(-126, min(127, shift)))),
        second(power_of_two(max(-126, min(127, shift - max(-126, min(127, shift)))))) {}
  float first, second;
};

/// Of one tile's points of a row a thread takes its part of the chunk's channels: transforms them along the row, splits
/// and stores them, from `to` on, which is the place of its channels in the first point's matrix.
template <class Form>
__device__ __forceinline__ void split_row(WinogradSplitPoints<Form>& points, int row, int tile, int first_channel,
                                          const WinogradSplitFactor& factor, unsigned char* to,
                                          std::int64_t matrix_bytes, int plane_bytes) {
  using Points = WinogradSplitPoints<Form>;
  constexpr int n = Form::kPointsX;
  constexpr int kChannels = Points::kChannels / Points::kParts;
  float value[kChannels][n];
#pragma unroll
  for (int channel = 0; channel < kChannels; ++channel) {
#pragma unroll
    for (int run = 0; run < Points::kRuns; ++run) {
      const typename Points::Points read = points.at(first_channel + channel, row, tile, run);
#pragma unroll
      for (int j = 0; j < Points::kVector; ++j) value[channel][run * Points::kVector + j] = read.element[j];
    }
    transform_pixels<Form::kOutputsX, Form::kTaps, 1>(value[channel]);
#pragma unroll
    for (int x = 0; x < n; ++x) value[channel][x] *= factor.first;
  }
  if (factor.second != 1) {
#pragma unroll
    for (int i = 0; i < kChannels * n; ++i) value[i / n][i % n] *= factor.second;
  }
  using Word = std::conditional_t<kChannels == 8, uint4, uint2>;
  unsigned char* place = to + row * n * matrix_bytes;
#pragma unroll
  for (int x = 0; x < n; ++x, place += matrix_bytes) {
    Word rounded, rest;
    auto* const rounded_pairs = reinterpret_cast<__half2*>(&rounded);
    auto* const rest_pairs = reinterpret_cast<__half2*>(&rest);
#pragma unroll
    for (int i = 0; i < kChannels / 2; ++i) {
      split_pair(value[2 * i][x], value[2 * i + 1][x], rounded_pairs[i], rest_pairs[i]);
    }
    __stcs(reinterpret_cast<Word*>(place), rounded);  // pixels shall stay in the L2 cache
    __stcs(reinterpret_cast<Word*>(place + plane_bytes), rest);
  }
}

/// Of the blocks that take the same tiles, the first tells which of them are in doubt, and the others transform every
/// so manieth chunk of the channels each.
template <class Form>
__device__ __forceinline__ void winograd_split_input(const CnnLayerWinogradSplitArguments& arguments) {
  using Points = WinogradSplitPoints<Form>;
  constexpr int kTiles = Points::kTiles, kChannels = Points::kChannels, kParts = Points::kParts;
  constexpr int kRows = Points::kRows, kColumns = Points::kPartColumns;
  static_assert(kTiles * kChannels == kCnnLayerWinogradThreads && kRows <= kChannels);
  __shared__ Points points;
  __shared__ int shifts[kTiles];
  const CnnLayerWinogradArguments& layer = arguments.layer;
  let_next_kernel_start();
  const int shares = arguments.shares + 1;
  const int share = static_cast<int>(blockIdx.x) % shares;
  const int first = static_cast<int>(blockIdx.x) / shares * kTiles;
  const int thread = static_cast<int>(threadIdx.x);
  if (share == 0) {
    wait_for_kernel_before();
    if (first < layer.tiles && thread < kCnnLayerWinogradThreads) winograd_doubts<Form>(layer, first);
    return;
  }
  if (!layer.is_beside_magnitudes) wait_for_kernel_before();
  const int part = thread % kParts, its_tile = thread / kParts % kTiles, its_row = thread / (kParts * kTiles);
  const bool has_tile = first + its_tile < layer.tiles;
  const WinogradTile place(layer, has_tile ? first + its_tile : 0);
  const int plane_bytes = arguments.block_rows * kSplitPlane * 2;
  const std::int64_t row_of_blocks = std::int64_t{arguments.panels_of_k} * kSplitRowBytes;
  const int row = first + its_tile;
  unsigned char* const place_of_tile = arguments.panels + (row - row % arguments.block_rows) * row_of_blocks +
                                       row % arguments.block_rows * 16 + part * (16 / kParts);
  bool has_shifts = false;
  constexpr int kChunks = kSplitPlane / kChannels;  // of a panel
  const int chunks = arguments.panels_of_k * kChunks;
  float value[kRows * kColumns];
  const auto read = [&](int chunk) {
    const int channel = channel_of_chunk(chunk, its_row);
    if (has_tile && chunk < chunks && channel < layer.channels) {
      Points::read(layer, place, channel, part, value);
    } else {
#pragma unroll
      for (int i = 0; i < kRows * kColumns; ++i) value[i] = 0;
    }
  };
  const auto prefetch = [&](int chunk) {
    const int channel = channel_of_chunk(chunk, its_row);
    if (has_tile && chunk < chunks && channel < layer.channels) Points::prefetch(layer, place, channel, part);
  };
  if (Points::kReadsAhead) {
    read(share - 1);
    prefetch(share - 1 + shares - 1);
  }
#pragma unroll 1
  for (int chunk = share - 1; chunk < chunks; chunk += shares - 1) {
    if (!Points::kReadsAhead) read(chunk);
#pragma unroll
    for (int x = 0; x < kColumns; ++x) transform_pixels<Form::kOutputsY, Form::kTaps, kColumns>(value + x);
    if (has_shifts) __syncthreads();  // the points before have been read
#pragma unroll
    for (int y = 0; y < kRows; ++y) points.write(its_row, y, its_tile, part, value + y * kColumns);
    if (!has_shifts) {
      if (layer.is_beside_magnitudes) wait_for_kernel_before();
      if (thread < kCnnLayerWinogradThreads) find_shifts<Form>(arguments, first, shifts);
      has_shifts = true;
    }
    __syncthreads();
    if (share == 1 && thread < kTiles) arguments.shifts[first + thread] = shifts[thread];
    if (Points::kReadsAhead) {
      read(chunk + shares - 1);
      prefetch(chunk + 2 * (shares - 1));
    }
    if (its_row < kRows) {
      split_row<Form>(
          points, its_row, its_tile, part * (kChannels / kParts), WinogradSplitFactor(shifts[its_tile]),
          place_of_tile + chunk / kChunks * (kSplitPlanes * plane_bytes) + chunk % kChunks * arguments.block_rows * 16,
          arguments.matrix_rows * row_of_blocks, plane_bytes);
    }
  }
}

}  // namespace tessera::cuda
