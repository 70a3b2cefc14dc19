// What a whole C must be: every element where that is quick to compute, else one random element of each cell of a grid,
// the corners, and a probe over everything (gemm_probe.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/chance.h"
#include "conformance/compare.h"
#include "conformance/gemm/gemm_oracle.h"
#include "conformance/gemm/gemm_probe.h"

namespace tessera::conformance {

template <class T>
class GemmReference {
 public:
  /// Keeps no reference to the inputs.
  GemmReference(const GemmInputs<T>& inputs, std::uint64_t seed, Draw draw = Draw::chosen);

  /// Compares C, whose rows are `stride` elements apart, with every worst-case bound multiplied by error_factor, and of
  /// random inputs with what is likely. `poison` is what
  /// stood in C before the run if it was not an input: an element that still holds its bits was not written. `name`
  /// stands before each failure: "product 2: ".
  void check(std::span<const T> c, std::int64_t stride, double error_factor, std::optional<T> poison,
             const std::string& name, Comparison& comparison) const;

  /// Is every element looked at on its own?
  [[nodiscard]] bool is_complete() const { return !probe_.has_value(); }

 private:
  struct Element {
    std::int64_t row;
    std::int64_t column;
    ExpectedSum expected;
  };
  void choose_samples(std::uint64_t seed);
  void find_poison(std::span<const T> c, std::int64_t stride, T poison, const std::string& name,
                   Comparison& comparison) const;

  Gemm problem_;
  SumBound bound_;
  Draw draw_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::vector<Element> elements_;
  std::optional<GemmProbe<T>> probe_;
};

extern template class GemmReference<float>;
extern template class GemmReference<double>;

}  // namespace tessera::conformance
