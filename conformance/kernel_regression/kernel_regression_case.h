// One case of kernel_regression: a problem, what its operands hold, and how they lie in memory.
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

/// What the rows hold.
enum class RegressionRows : std::uint8_t {
  random,    ///< every number by itself
  clusters,  ///< around ten centres, a row's first target is the number of its centre: what digits look like
  copies,    ///< random, but every training row stands there three times, and queries are training rows
  constant,  ///< all numbers equal, training rows and queries alike
};

/// A value put into one element of an operand, counted as it lies in memory, after it was filled.
struct RegressionPlant {
  char operand = 'q';  ///< queries, training ('t') or targets ('f', as in the formula)
  std::int64_t index = 0;
  double value = 0;
};

struct RegressionSpec {
  KernelRegression problem;
  Purpose purpose = Purpose::conformance;
  RegressionRows rows = RegressionRows::random;
  Values values = Values::symmetric;  ///< of float rows that are random
  double offset = 0;                  ///< added to every number of float rows
  std::vector<RegressionPlant> plants = {};
  std::string note = {};         ///< appended to the name: what the numbers don't say
  std::size_t misalignment = 0;  ///< elements between an aligned address and the operands' first elements
  bool prepared = true;          ///< run with a prepared training set, not with the raw one
  bool every_tuning = false;
  std::string_view part = "";  ///< of a study
};

[[nodiscard]] std::unique_ptr<Case> make_regression_case(RegressionSpec spec);

/// "float32_n100_d17_q5_m10": every field that is not the default.
[[nodiscard]] std::string regression_case_name(const KernelRegression& problem);
/// The problem field by field, and whether its training set is prepared.
[[nodiscard]] std::vector<Field> regression_fields(const KernelRegression& problem, bool prepared);
/// What the fields' words say, to be measured. Errors as FieldReader.
[[nodiscard]] std::unique_ptr<Case> kernel_regression_case_of(const ProblemWords& words);
/// A product and a sum for each number of each pair of rows.
[[nodiscard]] Work regression_work(const KernelRegression& problem);

}  // namespace tessera::conformance
