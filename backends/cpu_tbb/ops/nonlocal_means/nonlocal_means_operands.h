// What a kernel of nonlocal_means works on: its operands, typed, and the volume in whole numbers with mirrored borders.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/ops/nonlocal_means.h>

#include "cpu_tbb_kernel.h"
#include "cpu_tbb_scratch.h"
#include "mathematics/nonlocal_means_numbers.h"

namespace tessera::cpu_tbb {

/// One run's operands for a volume of T.
template <class T>
struct MeansOperands {
  const NonlocalMeans& problem;
  const std::vector<std::uint32_t>& weights;
  const T* volume;
  T* result;
};

/// The volume as whole numbers, in memory on loan: channel after channel, with borders.
template <class T>
class MeansVolume {
 public:
  MeansVolume(Executor& executor, const MeansOperands<T>& operands)
      : problem(operands.problem),
        axes(mathematics::means_axes(problem)),
        row(axes[0].with_borders()),
        plane(row * axes[1].with_borders()),
        channel(plane * axes[2].with_borders()),
        volume_(operands.volume),
        result_(operands.result),
        loan_(executor.scratch(),
              static_cast<std::size_t>(problem.channels * channel + kBehind) * sizeof(std::int32_t)),
        numbers_(reinterpret_cast<std::int32_t*>(loan_.data())) {
    if constexpr (std::is_same_v<T, float>) find_exponent(executor);
    scale = mathematics::means_scale(problem, exponent);
    const std::int64_t rows = axes[1].with_borders() * axes[2].with_borders();
    executor.parallel_for(problem.channels * rows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) fill_row(i);
    });
    std::fill_n(numbers_ + problem.channels * channel, kBehind, 0);
  }

  /// The first number of the patch of the voxel there, in channel 0.
  [[nodiscard]] const std::int32_t* patch(const PerAxis& at) const noexcept {
    return numbers_ + at.z * plane + at.y * row + at.x;
  }
  /// From there to the voxel itself.
  [[nodiscard]] std::int64_t middle() const noexcept {
    return axes[2].patch_before * plane + axes[1].patch_before * row + axes[0].patch_before;
  }
  /// Writes a voxel of the result.
  void write(const PerAxis& at, std::int64_t of_channel, std::int64_t sum, std::int64_t weights) const noexcept {
    const PerAxis& size = problem.size;
    const std::int64_t i = ((of_channel * size.z + at.z) * size.y + at.y) * size.x + at.x;
    if constexpr (std::is_same_v<T, float>) {
      if (!std::isfinite(volume_[i])) {
        result_[i] = volume_[i];
        return;
      }
    }
    result_[i] = mathematics::means_voxel<T>(sum, weights, exponent);
  }

  const NonlocalMeans& problem;
  const std::array<mathematics::MeansAxis, 3> axes;
  const std::int64_t row;
  const std::int64_t plane;
  const std::int64_t channel;
  int exponent = 0;
  mathematics::MeansScale scale;

 private:
  /// What the widest vectors read behind the last number.
  static constexpr std::int64_t kBehind = 16;

  void find_exponent(Executor& executor) {
    const std::int64_t lines = problem.channels * problem.size.z * problem.size.y;
    float largest = 0;
    std::mutex mutex;
    executor.parallel_for(lines, [&](std::int64_t begin, std::int64_t end) {
      float here = 0;
      for (std::int64_t i = begin * problem.size.x; i < end * problem.size.x; ++i) {
        const float magnitude = std::abs(volume_[i]);
        if (std::isfinite(magnitude)) here = std::max(here, magnitude);
      }
      const std::lock_guard lock(mutex);
      largest = std::max(largest, here);
    });
    exponent = mathematics::means_exponent(largest);
  }
  void fill_row(std::int64_t number) noexcept {
    const std::int64_t bordered_y = number % axes[1].with_borders();
    const std::int64_t bordered_z = number / axes[1].with_borders() % axes[2].with_borders();
    const std::int64_t of_channel = number / axes[1].with_borders() / axes[2].with_borders();
    const PerAxis& size = problem.size;
    const std::int64_t z = of_channel * size.z + axes[2].mirrored(bordered_z);
    const T* const from = volume_ + (z * size.y + axes[1].mirrored(bordered_y)) * size.x;
    std::int32_t* const to = numbers_ + number * row;
    const mathematics::MeansAxis& x = axes[0];
    for (std::int64_t i = 0; i < x.patch_before; ++i) to[i] = mathematics::means_number(from[x.mirrored(i)], exponent);
    for (std::int64_t i = 0; i < x.size; ++i) to[x.patch_before + i] = mathematics::means_number(from[i], exponent);
    for (std::int64_t i = x.patch_before + x.size; i < row; ++i)
      to[i] = mathematics::means_number(from[x.mirrored(i)], exponent);
  }

  const T* volume_;
  T* result_;
  ScratchPool::Loan loan_;
  std::int32_t* numbers_;
};

/// The kernel that calls `compute(executor, MeansOperands<T>)` with T as the problem says.
template <class Compute>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_means_kernel(const NonlocalMeans& problem, Compute compute) {
  return std::make_unique<CpuTbbKernel>([problem, weights = mathematics::means_weights(), compute = std::move(compute)](
                                            Executor& executor, OperandAddresses operands) {
    const auto run = [&]<class T>(T) {
      const auto* const volume = reinterpret_cast<const T*>(operands[0]);
      auto* const result = reinterpret_cast<T*>(operands[1]);
      if (problem.sigma == 0) {
        std::copy_n(volume, problem.size.product() * problem.channels, result);
      } else {
        compute(executor, MeansOperands<T>{problem, weights, volume, result});
      }
    };
    if (problem.type == DataType::uint8) return run(std::uint8_t());
    if (problem.type == DataType::uint16) return run(std::uint16_t());
    run(float());
  });
}

}  // namespace tessera::cpu_tbb
