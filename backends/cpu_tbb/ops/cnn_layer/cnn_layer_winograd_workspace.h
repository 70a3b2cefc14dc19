// Where the variant "winograd" keeps what lies between its stages: of a block, and of a thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu_tbb_scratch.h"
#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_finish.h"
#include "ops/cnn_layer/cnn_layer_winograd_plan.h"

namespace tessera::cpu_tbb {

/// V and M of one block, and which of its sums are in doubt: how many, then their places.
template <class T>
struct WinogradBlock {
  T* v = nullptr;
  T* m = nullptr;
  std::int32_t* doubts = nullptr;

  WinogradBlock(T* first, const WinogradPlan<T>& plan, const PatchGrid& grid)
      : v(first), m(v + v_size(plan, grid)), doubts(reinterpret_cast<std::int32_t*>(m + m_size(plan, grid))) {}
  /// Elements of all.
  [[nodiscard]] static std::int64_t size(const WinogradPlan<T>& plan, const PatchGrid& grid) {
    const std::int64_t places = grid.rows * grid.columns * plan.outputs() * plan.outputs();
    return v_size(plan, grid) + m_size(plan, grid) + mathematics::round_up(1 + places, kWinogradLine);
  }
  [[nodiscard]] std::span<const std::int32_t> places() const {
    return {doubts + 1, static_cast<std::size_t>(doubts[0])};
  }

 private:
  static std::int64_t m_size(const WinogradPlan<T>& plan, const PatchGrid& grid) {
    return room(plan, grid, plan.problem().output_channels);
  }
  static std::int64_t v_size(const WinogradPlan<T>& plan, const PatchGrid& grid) {
    return room(plan, grid, plan.problem().input_channels);
  }
  static std::int64_t room(const WinogradPlan<T>& plan, const PatchGrid& grid, std::int64_t channels) {
    return mathematics::round_up(plan.matrices() * plan.matrix_step(grid, channels) + kSumsSlack, kWinogradLine);
  }
};

/// What one thread needs for itself: planes of a channel, of the sums of all channels' magnitudes, and sums.
template <class T>
class WinogradWorkspace {
 public:
  WinogradWorkspace(ScratchPool& pool, const WinogradPlan<T>& plan)
      : planes_size_(mathematics::round_up(plan.largest_grid().channel_size() + kPlanesSlack, kWinogradLine)),
        sums_size_(mathematics::round_up(
            plan.largest_grid().rows * plan.outputs() * plan.sums_step(plan.largest_grid()) + kSumsSlack,
            kWinogradLine)),
        loan_(pool, static_cast<std::size_t>(2 * planes_size_ + sums_size_ + plan.sums_step(plan.largest_grid()) +
                                             kSumsSlack) *
                        sizeof(T)) {}

  [[nodiscard]] T* planes() const noexcept { return reinterpret_cast<T*>(loan_.data()); }
  [[nodiscard]] T* magnitudes() const noexcept { return planes() + planes_size_; }
  void clear_magnitudes() const { std::fill_n(magnitudes(), planes_size_, T(0)); }
  [[nodiscard]] T* sums() const noexcept { return magnitudes() + planes_size_; }
  [[nodiscard]] T* row() const noexcept { return sums() + sums_size_; }

 private:
  std::int64_t planes_size_;
  std::int64_t sums_size_;
  ScratchPool::Loan loan_;
};

}  // namespace tessera::cpu_tbb
