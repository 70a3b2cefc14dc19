// cnn_layer, implicit_gemm_split: what goes before the products, in three launches.
//
//   largest    the largest finite pixel of each image, in parts; clears what the next launch counts
//   split      a thread takes 8 channels of a pixel, multiplies them by the image's power of two, which brings its
//              largest pixel to [2^14, 2^15), and writes them as two chunks of fp16
//   doubts     of each column, which is the window of a pixel of the convolution: how far a sum must be from 0 to be
//              right, from the small pixels that the window holds
//
// A pixel is read twice and written once, whatever the filter is. A pixel that is infinite or NaN leaves a rest that is
// NaN, so that every sum that it belongs to is NaN, which is in doubt.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "cuda_split_elements.cuh"
#include "ops/cnn_layer/cnn_layer_arguments.h"
#include "ops/cnn_layer/cnn_layer_pixel_place.cuh"
#include "ops/cnn_layer/cnn_layer_split_arguments.h"

namespace tessera::cuda {

[[nodiscard]] __device__ __forceinline__ unsigned largest_of_warp(unsigned bits) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) bits = max(bits, __shfl_xor_sync(~0u, bits, apart));
  return bits;
}

/// The bits of a pixel's size, if it is finite.
[[nodiscard]] __device__ __forceinline__ unsigned finite_bits(float pixel) {
  const unsigned bits = __float_as_uint(pixel) & 0x7fffffffu;
  return bits < kInfinityBits ? bits : 0;
}

/// A block takes a part of an image.
__device__ __forceinline__ void find_largest_pixels(const CnnLayerSplitArguments& arguments) {
  constexpr int kWarps = kCnnLayerThreads / 32;
  __shared__ unsigned of_warps[kWarps];
  wait_for_kernel_before();
  let_next_kernel_start();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kCnnLayerThreads + thread;
  const std::int64_t step = static_cast<std::int64_t>(arguments.parts) * kCnnLayerThreads;
  const std::int64_t count = arguments.layer.image_stride;
  for (int image = static_cast<int>(blockIdx.y); image < arguments.images; image += static_cast<int>(gridDim.y)) {
    const float* const input = arguments.layer.input + image * count;
    unsigned largest = 0;
    if (reinterpret_cast<std::uintptr_t>(input) % 16 == 0 && count % 4 == 0) {
#pragma unroll 4
      for (std::int64_t i = first; i < count / 4; i += step) {
        const float4 four = reinterpret_cast<const float4*>(input)[i];
        largest = max(max(largest, max(finite_bits(four.x), finite_bits(four.y))),
                      max(finite_bits(four.z), finite_bits(four.w)));
      }
    } else {
#pragma unroll 4
      for (std::int64_t i = first; i < count; i += step) largest = max(largest, finite_bits(input[i]));
    }
    const std::int64_t before = static_cast<std::int64_t>(image) * arguments.plane_pixels;
    for (std::int64_t i = first; i < arguments.plane_pixels; i += step) {
      arguments.tiny[before + i] = 0;
      arguments.seen[before + i] = 0;
    }
    largest = largest_of_warp(largest);
    if (thread % 32 == 0) of_warps[thread / 32] = largest;
    __syncthreads();
    if (thread < 32) {
      largest = largest_of_warp(thread < kWarps ? of_warps[thread] : 0);
      if (thread == 0) arguments.largest[image * arguments.parts + static_cast<int>(blockIdx.x)] = largest;
    }
    __syncthreads();  // the next image's overwrite what the first warp reads
  }
}

/// The power of two of an image, told to a whole warp.
[[nodiscard]] __device__ __forceinline__ int shift_of_image(const CnnLayerSplitArguments& arguments, int image) {
  const unsigned* const parts = arguments.largest + image * arguments.parts;
  unsigned bits = 0;
  for (int i = static_cast<int>(threadIdx.x) % 32; i < arguments.parts; i += 32) bits = max(bits, parts[i]);
  return shift_of_largest(largest_of_warp(bits));
}

__device__ __forceinline__ void split_pixels(const CnnLayerSplitArguments& arguments) {
  constexpr float kTiny = 0x1p-3f;  // from here on fp16 keeps all 11 bits of a rest too
  wait_for_kernel_before();
  let_next_kernel_start();
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * kCnnLayerThreads + threadIdx.x;
  const std::int64_t chunk = number / arguments.plane_pixels;
  const std::int64_t pixel = number - chunk * arguments.plane_pixels;
  for (int image = static_cast<int>(blockIdx.y); image < arguments.images; image += static_cast<int>(gridDim.y)) {
    const int shift = shift_of_image(arguments, image);
    if (number == 0) arguments.shifts[image] = shift;
    if (chunk >= arguments.channel_chunks) continue;
    const int channels = arguments.layer.channels - static_cast<int>(chunk) * kCnnLayerChunk;
    const float* const from = arguments.layer.input + image * arguments.layer.image_stride +
                              chunk * kCnnLayerChunk * arguments.channel_stride + pixel * arguments.pixel_stride;
    float element[kCnnLayerChunk];
#pragma unroll
    for (int i = 0; i < kCnnLayerChunk; ++i) element[i] = i < channels ? from[i * arguments.channel_stride] : 0.0f;
    // Twice, because the power goes up to 2^163. Both products are exact, but where nothing is left of a small one.
    const float first = power_of_two(min(shift, 127));
    const float second = power_of_two(shift - min(shift, 127));
    uint4 rounded, rest;
    auto* const rounded_pairs = reinterpret_cast<__half2*>(&rounded);
    auto* const rest_pairs = reinterpret_cast<__half2*>(&rest);
    unsigned tiny = 0;
    bool is_seen = false;
#pragma unroll
    for (int i = 0; i < kCnnLayerChunk / 2; ++i) {
      const float a = element[2 * i], b = element[2 * i + 1];
      const float x = a * first * second;
      const float y = b * first * second;
      split_pair(x, y, rounded_pairs[i], rest_pairs[i]);
      tiny += (a != 0 && fabsf(x) < kTiny ? 1 : 0) + (b != 0 && fabsf(y) < kTiny ? 1 : 0);
      is_seen = is_seen || a != 0 || b != 0;
    }
    unsigned char* const to =
        arguments.pixels + image * arguments.image_bytes + chunk * 2 * arguments.plane_bytes + pixel * kSplitChunkBytes;
    *reinterpret_cast<uint4*>(to) = rounded;
    *reinterpret_cast<uint4*>(to + arguments.plane_bytes) = rest;
    const std::int64_t place = static_cast<std::int64_t>(image) * arguments.plane_pixels + pixel;
    if (tiny != 0) atomicAdd(arguments.tiny + place, tiny);
    if (is_seen) arguments.seen[place] = 1;  // whoever does so writes the same
  }
}

__device__ __forceinline__ void tell_doubts(const CnnLayerSplitArguments& arguments) {
  wait_for_kernel_before();
  let_next_kernel_start();
  const CnnLayerGemmArguments<float>& layer = arguments.layer;
  const int column = static_cast<int>(blockIdx.x) * kCnnLayerThreads + static_cast<int>(threadIdx.x);
  if (column >= arguments.all_columns) return;
  const PixelPlace place(layer, column);
  const std::int64_t before = static_cast<std::int64_t>(place.image) * arguments.plane_pixels;
  std::uint64_t tiny = 0;
  bool is_seen = false;
  for (int i = 0; i < layer.filter_height; ++i) {
    for (int j = 0; j < layer.filter_width; ++j) {
      if (!place.has(layer, i, j)) continue;
      const std::int64_t pixel = before + static_cast<std::int64_t>(place.y + i) * layer.width + place.x + j;
      tiny += arguments.tiny[pixel];
      is_seen = is_seen || arguments.seen[pixel] != 0;
    }
  }
  // The sums of a window of zeros are exact, whatever the weights are.
  const float doubt = is_seen ? static_cast<float>(tiny) * arguments.doubt_of_one : -__uint_as_float(kInfinityBits);
  arguments.column_notes[column] = {arguments.shifts[place.image], doubt};
}

/// A thread takes a step of an output channel.
__device__ __forceinline__ void order_weights(const CnnLayerSplitWeightsArguments& arguments) {
  wait_for_kernel_before();
  let_next_kernel_start();
  constexpr int kGroupSteps = kCnnLayerChunkGroup * kCnnLayerChunk;
  const std::int64_t step = static_cast<std::int64_t>(blockIdx.x) * kCnnLayerThreads + threadIdx.x;
  if (step >= arguments.steps) return;
  const int inside = static_cast<int>(step % kGroupSteps);
  const std::int64_t chunk = step / kGroupSteps * kCnnLayerChunkGroup + inside % 16 / 4;
  const std::int64_t of_channels = chunk / arguments.places;
  const std::int64_t place = chunk - of_channels * arguments.places;
  const std::int64_t channel = of_channels * kCnnLayerChunk + inside % 4 + inside / 16 * 4;
  for (std::int64_t output = blockIdx.y; output < arguments.outputs; output += gridDim.y) {
    arguments.matrix[output * arguments.steps + step] =
        channel < arguments.channels
            ? arguments.weights[(output * arguments.channels + channel) * arguments.places + place]
            : 0.0f;
  }
}

}  // namespace tessera::cuda
