// What a backend offers: for each operator its list of variants. A new operator is one line here.
#pragma once

#include "backend/variant.h"

#include <tessera/ops/cnn_layer.h>
#include <tessera/ops/conv2d.h>
#include <tessera/ops/gemm.h>

namespace tessera::backend {

/// Inherits one list per operator, so that `table.list<Gemm>()` finds it by the problem's type.
template <class... Problems>
class OperatorTableOf : private VariantList<Problems>... {
 public:
  template <class Problem>
  [[nodiscard]] const VariantList<Problem>& list() const noexcept {
    return *this;
  }
  template <class Problem>
  void set(VariantList<Problem> variants) {
    static_cast<VariantList<Problem>&>(*this) = std::move(variants);
  }
};

using OperatorTable = OperatorTableOf<  //
    Gemm,                               // C = alpha * op(A) * op(B) + beta * C
    Conv2d,                             // images with one small filter
    CnnLayer                            // convolution over channels, bias, ReLU and max-pool
    >;

}  // namespace tessera::backend
