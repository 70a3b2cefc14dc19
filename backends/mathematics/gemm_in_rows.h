// A batch of products as one: where all have one B, and their A's and C's lie one behind the other as rows of one
// matrix do.
#pragma once

#include <tessera/ops/gemm.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/variant.h"

namespace tessera::mathematics {

/// The problem, layout filled in, as the product of all rows of the batch at once, if it is one; else as it is. Each
/// element of C is the same sum. One product has no tiles that are empty in part at the end of each matrix, and reads B
/// once for all.
[[nodiscard]] constexpr Gemm gemm_in_rows(const Gemm& problem) noexcept {
  const auto follow = [&](std::int64_t stride, std::int64_t leading) {
    return leading > 0 && stride % leading == 0 && stride / leading == problem.m;
  };
  if (problem.batch < 2 || problem.m > std::numeric_limits<std::int64_t>::max() / problem.batch) return problem;
  if (problem.transpose_a || problem.stride_b != 0) return problem;
  if (!follow(problem.stride_a, problem.lda) || !follow(problem.stride_c, problem.ldc)) return problem;
  Gemm rows = problem;
  rows.m = problem.m * problem.batch;
  rows.batch = 1;
  return rows;
}

/// A variant that takes every problem so.
template <backend::Variant<Gemm> (*kVariant)()>
[[nodiscard]] backend::Variant<Gemm> in_rows() {
  using backend::Device;
  static const backend::Variant<Gemm> given = kVariant();
  backend::Variant<Gemm> variant = given;
  variant.check = [](const Gemm& problem, const Device& device) { return given.check(gemm_in_rows(problem), device); };
  variant.make = [](const Gemm& problem, Device& device, const Tuning& tuning) {
    return given.make(gemm_in_rows(problem), device, tuning);
  };
  if (given.tunables != nullptr) {
    variant.tunables = [](const Gemm& problem, const Device& device) {
      return given.tunables(gemm_in_rows(problem), device);
    };
  }
  if (given.error_factor_of != nullptr) {
    variant.error_factor_of = [](const Gemm& problem, const Device& device) {
      return given.error_factor_of(gemm_in_rows(problem), device);
    };
  }
  if (given.error_factor_with != nullptr) {
    variant.error_factor_with = [](const Gemm& problem, const Device& device, const Tuning& tuning) {
      return given.error_factor_with(gemm_in_rows(problem), device, tuning);
    };
  }
  if (given.pays != nullptr) {
    variant.pays = [](const Gemm& problem, const Device& device) { return given.pays(gemm_in_rows(problem), device); };
  }
  return variant;
}

}  // namespace tessera::mathematics
