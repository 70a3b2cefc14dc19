// The weighted estimates of voxels, and the weights, as sums of whole numbers: exact, so that the order in which they
// are added does not matter. They hold a slab of the volume, which moves on.
//
//   volume      |-----------------------------------|     Before references are filtered, the slab is moved to where
//   slab            [ written | kept   | new    ]         their stacks reach. What lies before that will get no more:
//   later                     [ kept   | new    |    ]    it is written into the result first.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include <tessera/ops/denoise.h>

#include "cpu_tbb_executor.h"
#include "cpu_tbb_scratch.h"

namespace tessera::cpu_tbb {

/// Voxels [first, end) along each axis.
struct VoxelBox {
  PerAxis first;
  PerAxis end;

  [[nodiscard]] PerAxis count() const noexcept { return {end.x - first.x, end.y - first.y, end.z - first.z}; }
  [[nodiscard]] bool is_empty() const noexcept { return count().x <= 0 || count().y <= 0 || count().z <= 0; }
};

/// Sums of one channel, which start at some voxel of the volume.
struct SumsOfChannel {
  std::int64_t* estimates = nullptr;
  std::int64_t* weights = nullptr;
};

class DenoiseSums {
 public:
  /// For boxes of voxels of up to so many along each axis. Nothing is in it.
  DenoiseSums(ScratchPool& pool, const PerAxis& most, std::int64_t channels);

  /// Moves to a box whose first voxel does not lie before that of the one before. New voxels hold 0.
  void move(const VoxelBox& box);
  /// Begins anew with 0 everywhere in a box.
  void start(const VoxelBox& box);
  [[nodiscard]] const VoxelBox& box() const noexcept { return box_; }
  [[nodiscard]] SumsOfChannel channel(std::int64_t channel) const noexcept {
    std::int64_t* const first = memory_ + 2 * channel * most_.product();
    return {first, first + most_.product()};
  }
  /// Where a voxel of the box stands.
  [[nodiscard]] std::int64_t index(const PerAxis& voxel) const noexcept {
    return ((voxel.z - box_.first.z) * most_.y + voxel.y - box_.first.y) * most_.x + voxel.x - box_.first.x;
  }
  [[nodiscard]] std::int64_t row() const noexcept { return most_.x; }
  [[nodiscard]] std::int64_t plane() const noexcept { return most_.x * most_.y; }

  /// Adds another's sums, which lie in a box inside this one's. May be called by several threads at once.
  void add(const DenoiseSums& part);

  [[nodiscard]] static double bytes(const PerAxis& most, std::int64_t channels) noexcept {
    return 2.0 * sizeof(std::int64_t) * static_cast<double>(channels) * static_cast<double>(most.x) *
           static_cast<double>(most.y) * static_cast<double>(most.z);
  }

 private:
  static constexpr std::size_t kLocks = 64;

  PerAxis most_;
  std::int64_t channels_;
  ScratchPool::Loan loan_;
  std::int64_t* memory_;
  VoxelBox box_;
  std::array<std::mutex, kLocks> locks_;
};

}  // namespace tessera::cpu_tbb
