// What all outputs of a cnn_layer must be: every one where that is quick to compute, else samples of every channel, the
// corners, and every output that looks unwritten.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/cnn_layer/cnn_layer_oracle.h"
#include "conformance/compare.h"

namespace tessera::conformance {

template <class T>
class CnnLayerReference {
 public:
  /// `inputs` must live as long. `draw`: of all operands.
  CnnLayerReference(CnnLayerInputs<T> inputs, Draw draw, std::uint64_t seed);

  /// Compares all outputs, as they lie in memory: each with the worst case, and of random operands with what is likely.
  /// One that still holds the bits of `poison` is looked at wherever it
  /// is.
  void check(std::span<const T> outputs, double error_factor, T poison, Comparison& comparison) const;

  /// Is every output looked at?
  [[nodiscard]] bool is_complete() const { return is_complete_; }

 private:
  struct Sample {
    CnnLayerPlace place;
    CnnLayerExpected expected;
  };
  void choose_samples(std::uint64_t seed);
  [[nodiscard]] std::size_t index_of(const CnnLayerPlace& place) const;
  [[nodiscard]] CnnLayerPlace place_of(std::size_t index) const;

  CnnLayerInputs<T> inputs_;
  Draw draw_;
  bool has_neighbours_;
  bool is_complete_ = true;
  std::vector<Sample> samples_;
};

extern template class CnnLayerReference<float>;
extern template class CnnLayerReference<double>;

}  // namespace tessera::conformance
