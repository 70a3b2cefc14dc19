// Weights in panels for gemm's register tile: a matrix of output channels x products, cut into steps of products that
// fit the tile's depth and panels of channels that fit its rows, each panel of a step packed as the tile reads it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mathematics/division.h"
#include "ops/gemm/gemm_register_kernel.h"

namespace tessera::cpu_tbb {

/// Equal parts of a whole, which differ by at most 1: part `i` of `parts`.
struct EqualParts {
  std::int64_t whole = 0;
  std::int64_t parts = 1;

  /// As few parts as have at most `most` elements.
  [[nodiscard]] static EqualParts of_at_most(std::int64_t whole, std::int64_t most) {
    return {whole, mathematics::ceil_div(whole, most)};
  }
  [[nodiscard]] std::int64_t first(std::int64_t i) const noexcept {
    return i * (whole / parts) + std::min(i, whole % parts);
  }
  [[nodiscard]] std::int64_t size(std::int64_t i) const noexcept { return first(i + 1) - first(i); }
  /// The part that an element belongs to. The first whole % parts parts have one element more than the others.
  [[nodiscard]] std::int64_t part_of(std::int64_t element) const noexcept {
    const std::int64_t in_longer = whole % parts * (whole / parts + 1);
    if (element < in_longer) return element / (whole / parts + 1);
    return whole % parts + (element - in_longer) / (whole / parts);
  }
};

/// Where the panels of one matrix lie, one step after the other, in it one panel after the other.
template <class T>
class PanelLayout {
 public:
  PanelLayout(std::int64_t channels, std::int64_t products)
      : steps_(EqualParts::of_at_most(products, kRegisterDepth<T>)),
        panels_(EqualParts::of_at_most(channels, register_tile<T>().rows)) {}
  [[nodiscard]] const EqualParts& steps() const noexcept { return steps_; }
  [[nodiscard]] const EqualParts& panels() const noexcept { return panels_; }
  /// The first element of a panel; (row, p) lies row * kRegisterDepth + p behind it.
  [[nodiscard]] std::int64_t offset(std::int64_t step, std::int64_t panel) const noexcept {
    return offset_of_channel(step, panels_.first(panel));
  }
  /// The same where panels are cut in another way: they follow each other without gaps, so that any channel may be the
  /// first of one.
  [[nodiscard]] std::int64_t offset_of_channel(std::int64_t step, std::int64_t channel) const noexcept {
    return (step * panels_.whole + channel) * kRegisterDepth<T>;
  }
  [[nodiscard]] std::int64_t size() const noexcept { return steps_.parts * panels_.whole * kRegisterDepth<T>; }

  /// The element of one weight.
  [[nodiscard]] std::int64_t place(std::int64_t channel, std::int64_t product) const noexcept {
    const std::int64_t step = steps_.part_of(product);
    const std::int64_t panel = panels_.part_of(channel);
    return offset(step, panel) + (channel - panels_.first(panel)) * kRegisterDepth<T> + product - steps_.first(step);
  }
  /// Packs one step: `weight(channel, product)` is asked for each of its weights.
  template <class Weight>
  void pack_step(std::int64_t step, T* packed, const Weight& weight) const {
    for (std::int64_t panel = 0; panel < panels_.parts; ++panel) {
      T* const target = packed + offset(step, panel);
      for (std::int64_t row = 0; row < panels_.size(panel); ++row) {
        for (std::int64_t p = 0; p < steps_.size(step); ++p)
          target[row * kRegisterDepth<T> + p] = weight(panels_.first(panel) + row, steps_.first(step) + p);
      }
    }
  }

 private:
  EqualParts steps_;
  EqualParts panels_;
};

}  // namespace tessera::cpu_tbb
