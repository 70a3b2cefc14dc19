// What all outputs of a conv2d must be: every pixel where that is quick to compute, else whole rows, one of every 16
// and those along the edges, and every pixel that looks unwritten.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "conformance/compare.h"
#include "conformance/conv2d/conv2d_oracle.h"

namespace tessera::conformance {

template <class T>
class Conv2dReference {
 public:
  using Output = typename Conv2dInputs<T>::Output;

  /// `inputs` must live as long. `draw`: of the images.
  Conv2dReference(Conv2dInputs<T> inputs, std::uint64_t seed, Draw draw = Draw::chosen);

  /// Compares the output images, one behind the other: each pixel with the worst case, and of random images with what
  /// is likely. A pixel that still holds the bits of `poison` is looked at even
  /// where its row is not: it may be right by chance only if the oracle says so.
  void check(std::span<const Output> outputs, double error_factor, Output poison, Comparison& comparison) const;

  /// Is every pixel looked at?
  [[nodiscard]] bool is_complete() const { return is_complete_; }

 private:
  struct Row {
    std::int64_t image;
    std::int64_t y;
    std::vector<ExpectedSum> pixels;
  };
  void compute(Row& row) const;

  Conv2dInputs<T> inputs_;
  Draw draw_;
  double pixels_in_touch_ = 1;
  bool is_complete_ = true;
  std::vector<Row> rows_;
};

extern template class Conv2dReference<std::uint8_t>;
extern template class Conv2dReference<std::int16_t>;
extern template class Conv2dReference<std::int32_t>;
extern template class Conv2dReference<float>;

}  // namespace tessera::conformance
