// The operators of the smallest backend: one thread, plain loops. One variant of gemm has a workspace, one of cnn_layer
// prepares its weights.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "minimal_queue.h"

namespace tessera::minimal {

/// One thread, plain loops.
template <class T>
void multiply(const Gemm& p, const T* a, const T* b, T* c) {
  const bool reads_product = p.k > 0 && static_cast<T>(p.alpha) != T(0);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      T sum = 0;
      for (std::int64_t l = 0; reads_product && l < p.k; ++l) {
        sum += (p.transpose_a ? a[l * p.lda + i] : a[i * p.lda + l]) *
               (p.transpose_b ? b[j * p.ldb + l] : b[l * p.ldb + j]);
      }
      T& result = c[i * p.ldc + j];
      result = (reads_product ? static_cast<T>(p.alpha) * sum : T(0)) +
               (static_cast<T>(p.beta) != T(0) ? static_cast<T>(p.beta) * result : T(0));
    }
  }
}

/// The same with B turned around first, so that both run along memory. Room for that is the workspace.
class TurnedGemmKernel : public backend::Kernel {
 public:
  explicit TurnedGemmKernel(const Gemm& problem) : problem_(problem) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(problem_.k * problem_.n) * size_bytes(problem_.type);
  }
  void launch(backend::Queue& queue, std::span<const Slice> operands, const Slice& workspace) override {
    static_cast<Queue&>(queue).run([&] {
      problem_.type == DataType::float32 ? run<float>(operands, workspace) : run<double>(operands, workspace);
    });
  }

 private:
  template <class T>
  void run(std::span<const Slice> operands, const Slice& workspace) const {
    const auto element = [](const Slice& slice) { return reinterpret_cast<T*>(address(slice)); };
    Gemm turned = problem_;
    turned.transpose_b = true, turned.ldb = problem_.k;
    for (std::int64_t i = 0; i < problem_.batch; ++i) {
      const T* const b = element(operands[1]) + i * problem_.stride_b;
      for (std::int64_t l = 0; l < problem_.k; ++l) {
        for (std::int64_t j = 0; j < problem_.n; ++j) {
          element(workspace)[j * problem_.k + l] =
              problem_.transpose_b ? b[j * problem_.ldb + l] : b[l * problem_.ldb + j];
        }
      }
      const T* const b_turned = workspace.buffer != nullptr ? element(workspace) : nullptr;
      multiply<T>(turned, element(operands[0]) + i * problem_.stride_a, b_turned,
                  element(operands[2]) + i * problem_.stride_c);
    }
  }
  Gemm problem_;
};

class GemmKernel : public backend::Kernel {
 public:
  explicit GemmKernel(const Gemm& problem) : problem_(problem) {}
  void launch(backend::Queue& queue, std::span<const Slice> operands, const Slice& /*workspace*/) override {
    static_cast<Queue&>(queue).run(
        [&] { problem_.type == DataType::float32 ? run<float>(operands) : run<double>(operands); });
  }

 private:
  template <class T>
  void run(std::span<const Slice> operands) const {
    const auto element = [&](std::size_t i) { return reinterpret_cast<T*>(address(operands[i])); };
    for (std::int64_t i = 0; i < problem_.batch; ++i) {
      multiply<T>(problem_, element(0) + i * problem_.stride_a, element(1) + i * problem_.stride_b,
                  element(2) + i * problem_.stride_c);
    }
  }
  Gemm problem_;
};

class Conv2dKernel : public backend::Kernel {
 public:
  explicit Conv2dKernel(const Conv2d& problem) : problem_(problem) {}
  void launch(backend::Queue& queue, std::span<const Slice> operands, const Slice& /*workspace*/) override {
    static_cast<Queue&>(queue).run([&] {
      switch (problem_.type) {
        case DataType::uint8: return run<std::uint8_t, std::uint32_t>(operands);
        case DataType::int16: return run<std::int16_t, std::uint32_t>(operands);
        case DataType::int32: return run<std::int32_t, std::uint32_t>(operands);
        default: return run<float, float>(operands);
      }
    });
  }

 private:
  /// Sums of integers wrap around, which unsigned arithmetic is allowed to.
  template <class Pixel, class Sum>
  void run(std::span<const Slice> operands) const {
    const Conv2d& p = problem_;
    const auto* image = reinterpret_cast<const Pixel*>(address(operands[0]));
    auto* output = reinterpret_cast<Sum*>(address(operands[1]));
    for (std::int64_t i = 0; i < p.batch; ++i, image += p.height * p.width) {
      for (std::int64_t y = 0; y < p.output_height(); ++y) {
        for (std::int64_t x = 0; x < p.output_width(); ++x) *output++ = pixel<Pixel, Sum>(image, y, x);
      }
    }
  }
  /// A weight of the filter in the type that is summed up in.
  template <class Sum>
  [[nodiscard]] static Sum weight(double value) {
    if constexpr (std::is_floating_point_v<Sum>) return static_cast<Sum>(value);
    return static_cast<Sum>(static_cast<std::int64_t>(value));
  }
  template <class Pixel, class Sum>
  [[nodiscard]] Sum pixel(const Pixel* image, std::int64_t y, std::int64_t x) const {
    const Conv2d& p = problem_;
    Sum sum = 0;
    for (std::int64_t k = 0; k < p.filter_height * p.filter_width; ++k) {
      const std::int64_t row = y + k / p.filter_width - p.anchor_y;
      const std::int64_t column = x + k % p.filter_width - p.anchor_x;
      if (row < 0 || row >= p.height || column < 0 || column >= p.width) continue;
      sum += weight<Sum>(p.filter[k]) * static_cast<Sum>(image[row * p.width + column]);
    }
    return sum;
  }
  Conv2d problem_;
};

/// One layer of a network in float, one thread, plain loops. `kTurned`: with weights that are prepared, so that those
/// of one product lie beside each other for all output channels.
template <bool kTurned>
class LayerKernel : public backend::Kernel {
 public:
  explicit LayerKernel(const CnnLayer& problem) : problem_(problem) {}
  [[nodiscard]] std::size_t prepared_bytes() const override {
    return kTurned ? static_cast<std::size_t>(problem_.output_channels * products()) * sizeof(float) : 0;
  }
  void prepare(backend::Queue& queue, const Slice& weights, const Slice& prepared, const Slice&) override {
    static_cast<Queue&>(queue).run([&] {
      for (std::int64_t i = 0; i < problem_.output_channels * products(); ++i)
        element(prepared)[i % products() * problem_.output_channels + i / products()] = element(weights)[i];
    });
  }
  void launch(backend::Queue& queue, std::span<const Slice> operands, const Slice& /*workspace*/) override {
    static_cast<Queue&>(queue).run([&] { compute(operands); });
  }

 private:
  static float* element(const Slice& slice) { return reinterpret_cast<float*>(address(slice)); }
  [[nodiscard]] std::int64_t products() const {
    return problem_.input_channels * problem_.filter_height * problem_.filter_width;
  }
  /// One sum of output channel `o` in image `n`, with bias and ReLU.
  [[nodiscard]] float sum(std::span<const Slice> operands, std::int64_t n, std::int64_t o, std::int64_t y,
                          std::int64_t x) const {
    const CnnLayer& p = problem_;
    float total = p.bias ? element(operands[2])[o] : 0;
    for (std::int64_t product = 0; product < products(); ++product) {
      const std::int64_t row = y * p.stride + product / p.filter_width % p.filter_height - p.padding;
      const std::int64_t column = x * p.stride + product % p.filter_width - p.padding;
      if (row < 0 || row >= p.height || column < 0 || column >= p.width) continue;
      const std::int64_t plane = n * p.input_channels + product / p.filter_width / p.filter_height;
      total += element(operands[1])[kTurned ? product * p.output_channels + o : o * products() + product] *
               element(operands[0])[(plane * p.height + row) * p.width + column];
    }
    return p.relu && total < 0 ? 0 : total;
  }
  void compute(std::span<const Slice> operands) const {
    const CnnLayer& p = problem_;
    const std::int64_t pixels = p.output_height() * p.output_width();
    for (std::int64_t i = 0; i < p.batch * p.output_channels * pixels; ++i) {
      const std::int64_t o = i / pixels % p.output_channels;
      const std::int64_t top = i % pixels / p.output_width() * p.pool_stride;
      const std::int64_t left = i % p.output_width() * p.pool_stride;
      float& largest = element(operands[3])[i];
      for (std::int64_t place = 0; place < p.pool_size * p.pool_size; ++place) {
        const float next =
            sum(operands, i / pixels / p.output_channels, o, top + place / p.pool_size, left + place % p.pool_size);
        if (place == 0 || !(next <= largest || largest != largest)) largest = next;  // a NaN stays
      }
    }
  }
  CnnLayer problem_;
};

}  // namespace tessera::minimal
