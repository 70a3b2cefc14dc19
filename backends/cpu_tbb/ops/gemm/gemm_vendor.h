// What the variants "vendor_*" share: matrix multiplication by a library that is opened at run time, if it is there.
// They are yardsticks for our own variants and stand behind them in the list, so that none is taken unless asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "backend/shared_library.h"
#include "ops/gemm/gemm_matrices.h"

namespace tessera::cpu_tbb {

/// No if the library did not open; the reason holds every name that was tried and the loader's words.
[[nodiscard]] backend::Verdict vendor_library_opens(std::string_view vendor, const backend::SharedLibrary& library);

/// No if a size or a leading dimension of the problem is too large for the library's integers of 32 bits.
[[nodiscard]] backend::Verdict vendor_counts_in_int(std::string_view vendor, const Gemm& problem);

/// C = beta * C, for the problems with nothing to add up, which the libraries are not asked for: what they do with NaN
/// in C, A and B then differs.
template <class T>
void scale_by_beta(const GemmMatrices<T>& gemm) noexcept {
  for (std::int64_t row = 0; row < gemm.m; ++row) gemm.scale_row(row);
}

}  // namespace tessera::cpu_tbb
