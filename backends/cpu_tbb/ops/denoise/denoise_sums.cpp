// Moving, clearing and adding sums, row by row.
#include "ops/denoise/denoise_sums.h"

#include <algorithm>

namespace tessera::cpu_tbb {

namespace {

/// Rows that one lock guards, so that it is taken rarely beside the work that it guards.
constexpr std::int64_t kRowsOfLock = 8;

}  // namespace

DenoiseSums::DenoiseSums(ScratchPool& pool, const PerAxis& most, std::int64_t channels)
    : most_(most),
      channels_(channels),
      loan_(pool, static_cast<std::size_t>(bytes(most, channels))),
      memory_(reinterpret_cast<std::int64_t*>(loan_.data())),
      box_{{0, 0, 0}, {0, 0, 0}} {}

void DenoiseSums::start(const VoxelBox& box) {
  box_ = box;
  const PerAxis count = box_.count();
  for (std::int64_t array = 0; array < 2 * channels_; ++array) {
    for (std::int64_t z = 0; z < count.z; ++z) {
      for (std::int64_t y = 0; y < count.y; ++y)
        std::fill_n(memory_ + array * most_.product() + z * plane() + y * row(), count.x, 0);
    }
  }
}

void DenoiseSums::move(const VoxelBox& box) {
  const VoxelBox old = box_;
  box_ = box;
  const PerAxis count = box.count();
  for (std::int64_t array = 0; array < 2 * channels_; ++array) {
    std::int64_t* const sums = memory_ + array * most_.product();
    // What is moved lies behind where it goes to, so rows are taken in rising order.
    for (std::int64_t z = box.first.z; z < box.end.z; ++z) {
      for (std::int64_t y = box.first.y; y < box.end.y; ++y) {
        std::int64_t* const to = sums + (z - box.first.z) * plane() + (y - box.first.y) * row();
        const bool is_kept = z < old.end.z && y < old.end.y && z >= old.first.z && y >= old.first.y;
        const std::int64_t kept = is_kept ? std::clamp<std::int64_t>(old.end.x - box.first.x, 0, count.x) : 0;
        const std::int64_t* const from =
            sums + (z - old.first.z) * plane() + (y - old.first.y) * row() + box.first.x - old.first.x;
        if (kept > 0 && from != to) std::copy(from, from + kept, to);
        std::fill(to + kept, to + count.x, 0);
      }
    }
  }
}

void DenoiseSums::add(const DenoiseSums& part) {
  const VoxelBox& box = part.box_;
  const std::int64_t length = box.count().x;
  for (std::int64_t z = box.first.z; z < box.end.z; ++z) {
    for (std::int64_t y = box.first.y; y < box.end.y;) {
      const std::int64_t stripe = y / kRowsOfLock;
      const std::int64_t end = std::min((stripe + 1) * kRowsOfLock, box.end.y);
      const std::lock_guard lock(locks_[static_cast<std::size_t>(z * 17 + stripe) % kLocks]);
      for (; y < end; ++y) {
        for (std::int64_t array = 0; array < 2 * channels_; ++array) {
          std::int64_t* const to = memory_ + array * most_.product() + index({box.first.x, y, z});
          const std::int64_t* const from =
              part.memory_ + array * part.most_.product() + part.index({box.first.x, y, z});
          for (std::int64_t x = 0; x < length; ++x) to[x] += from[x];
        }
      }
    }
  }
}

}  // namespace tessera::cpu_tbb
