// Cases of gemm whose element indices pass 2^31, so that a kernel that computes one in 32 bits is found out. They take
// 8 GiB and more of a GPU's memory and hardly any of the host's.
#pragma once

#include <memory>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// Which matrix reaches past element 2^31.
enum class GemmFar : std::uint8_t {
  a,        ///< 3 rows, 2^30 elements apart
  b,        ///< the same for B
  c,        ///< the same for C
  wide,     ///< C and B are one row of more than 2^31 columns
  batch_a,  ///< 3 matrices, 2^30 elements apart
  batch_b,  ///< the same for B
  batch_c,  ///< the same for C
};

[[nodiscard]] std::unique_ptr<Case> make_huge_gemm_case(GemmFar far);

}  // namespace tessera::conformance
