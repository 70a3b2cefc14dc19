// What a backend offers: for each operator its list of variants.
#pragma once

#include "backend/variant.h"

#include <tessera/operators.h>

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

/// One list for each operator that api/operators.txt names.
using OperatorTable = tessera::detail::OfEachOperator<OperatorTableOf>;

}  // namespace tessera::backend
