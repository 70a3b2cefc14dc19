// One case of gemm: a problem, what its inputs hold, and how its operands lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/inputs.h"
#include "conformance/problem_set.h"

namespace tessera::conformance {

/// A value put into one element of op(A), op(B) or C after the matrix was filled: infinities and NaN.
struct GemmPlant {
  char matrix = 'a';
  std::int64_t row = 0;
  std::int64_t column = 0;
  double value = 0;
  std::int64_t index = 0;  ///< which matrix of the batch
};

struct GemmSpec {
  Gemm problem;  ///< leading dimensions and strides of A and B that are given leave gaps; stride 0: shared
  Purpose purpose = Purpose::conformance;
  Values values = Values::symmetric;
  std::vector<GemmPlant> plants = {};
  std::string note = {};         ///< appended to the name: what the numbers don't say
  std::size_t misalignment = 0;  ///< elements between an aligned address and the operands' first elements
  bool every_tuning = false;
  std::string_view part = {};  ///< of the study that the case belongs to
};

/// A plain product of these sizes.
[[nodiscard]] inline Gemm gemm_of(DataType type, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.m = m, .n = n, .k = k, .type = type};
}

/// Where alpha is 0, A and B hold NaN, and where beta is 0, C does, because they must not be read; so do the gaps
/// behind the rows and the guard zones. Inputs and expected values are made when the case is first prepared, and kept
/// while runs of it exist; the expected values of cases that are measured are kept for the next device.
[[nodiscard]] std::unique_ptr<Case> make_gemm_case(GemmSpec spec);

/// "float32_m17_n1_k33_ta_alpham0p5": every field that is not the default, for names of cases.
[[nodiscard]] std::string gemm_case_name(const Gemm& problem);
/// The problem's fields for result files.
[[nodiscard]] std::vector<Field> gemm_fields(const Gemm& problem, Values values = Values::symmetric);
/// What the fields' words say, to be measured. Errors as FieldReader.
[[nodiscard]] std::unique_ptr<Case> gemm_case_of(const ProblemWords& words);
[[nodiscard]] Work gemm_work(const Gemm& problem);
/// How many matrices an operand has: with stride 0, one for the whole batch.
[[nodiscard]] std::int64_t gemm_matrix_count(std::int64_t batch, std::int64_t stride);

}  // namespace tessera::conformance
