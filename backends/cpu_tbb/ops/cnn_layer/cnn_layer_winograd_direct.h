// The sums of one block that are computed without Winograd's transforms, for a range of output channels. The pixels
// below the filter are gathered for kDirectPlaces of them at a time, so that their sums are a product of matrices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu_tbb_scratch.h"
#include "ops/cnn_layer/cnn_layer_blocks.h"
#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/cnn_layer/cnn_layer_winograd_doubt.h"

namespace tessera::cpu_tbb {

template <class T>
class WinogradDirectSums {
 public:
  /// Computes the sums of output channels [first, last) at `places`: y * block.sum_columns + x. They must live as long.
  WinogradDirectSums(ScratchPool& pool, const CnnOperands<T>& layer, const T* raw_weights, const CnnBlock& block,
                     std::span<const std::int32_t> places, std::int64_t first, std::int64_t last)
      : places_(places),
        columns_(block.sum_columns),
        first_(first),
        depth_(layer.problem.input_channels * layer.problem.filter_height * layer.problem.filter_width),
        groups_((static_cast<std::int64_t>(places.size()) + kDirectPlaces - 1) / kDirectPlaces),
        loan_(pool, groups_ == 0
                        ? 0
                        : static_cast<std::size_t>((depth_ + groups_ * (last - first)) * kDirectPlaces) * sizeof(T)) {
    DirectProduct<T> product;
    product.weights = raw_weights + first * depth_;
    product.pixels = pixels();
    product.rows = last - first;
    product.depth = depth_;
    product.sums_step = groups_ * kDirectPlaces;
    for (std::int64_t group = 0; group < groups_; ++group) {
      gather(layer, block, group * kDirectPlaces);
      product.sums = sums() + group * kDirectPlaces;
      multiply_directly(product);
    }
  }

  /// Puts one channel's among its other sums.
  void put(std::int64_t channel, T* sums_of_block, std::int64_t sums_step) const {
    if (places_.empty()) return;
    const T* const found = sums() + (channel - first_) * groups_ * kDirectPlaces;
    for (std::size_t i = 0; i < places_.size(); ++i)
      sums_of_block[places_[i] / columns_ * sums_step + places_[i] % columns_] = found[i];
  }

 private:
  [[nodiscard]] T* pixels() const noexcept { return reinterpret_cast<T*>(loan_.data()); }
  [[nodiscard]] T* sums() const noexcept { return pixels() + depth_ * kDirectPlaces; }

  /// Pixels of places from `begin` on: row (channel, i, j) holds one pixel of each. 0 in the padding, and for places
  /// that there are not.
  void gather(const CnnOperands<T>& layer, const CnnBlock& block, std::int64_t begin) const {
    const CnnLayer& p = layer.problem;
    std::fill_n(pixels(), depth_ * kDirectPlaces, T(0));
    const std::int64_t count = std::min<std::int64_t>(kDirectPlaces, static_cast<std::int64_t>(places_.size()) - begin);
    for (std::int64_t place = 0; place < count; ++place) {
      const std::int32_t number = places_[static_cast<std::size_t>(begin + place)];
      const std::int64_t top = block.sum_y + number / columns_ - p.padding;
      const std::int64_t left = block.sum_x + number % columns_ - p.padding;
      const std::int64_t first_i = std::max<std::int64_t>(0, -top);
      const std::int64_t last_i = std::min(p.filter_height, p.height - top);
      const std::int64_t first_j = std::max<std::int64_t>(0, -left);
      const std::int64_t last_j = std::min(p.filter_width, p.width - left);
      for (std::int64_t c = 0; c < p.input_channels; ++c) {
        for (std::int64_t i = first_i; i < last_i; ++i) {
          T* const row = pixels() + ((c * p.filter_height + i) * p.filter_width) * kDirectPlaces + place;
          for (std::int64_t j = first_j; j < last_j; ++j)
            row[j * kDirectPlaces] = *layer.input.at(block.image, c, top + i, left + j);
        }
      }
    }
  }

  std::span<const std::int32_t> places_;
  std::int64_t columns_;  ///< of the block's sums
  std::int64_t first_;
  std::int64_t depth_;
  std::int64_t groups_;
  ScratchPool::Loan loan_;
};

}  // namespace tessera::cpu_tbb
