// One case of conv2d: a problem, what its images hold, and how its operands lie in memory.
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

/// A value put into one pixel after the images were filled: infinities, NaN and the ends of a type.
struct Conv2dPlant {
  std::int64_t image = 0;
  std::int64_t y = 0;
  std::int64_t x = 0;
  double value = 0;
};

struct Conv2dSpec {
  Conv2d problem;
  Purpose purpose = Purpose::conformance;
  Values values = Values::symmetric;  ///< of float images; integer images hold every value of their type
  std::int32_t largest = 0;           ///< or, if it is not 0, an int32 image holds values from -largest to largest
  std::vector<Conv2dPlant> plants = {};
  std::string note = {};         ///< appended to the name: what the numbers don't say
  std::size_t misalignment = 0;  ///< elements between an aligned address and the operands' first elements
  bool every_tuning = false;
  std::string_view part = {};  ///< of a study, a name that outlives the case
};

[[nodiscard]] std::unique_ptr<Case> make_conv2d_case(Conv2dSpec spec);

/// The problem field by field, and its least work, as a case tells them.
[[nodiscard]] std::vector<Field> conv2d_fields(const Conv2d& problem);
/// What the fields' words say, to be measured. Errors as FieldReader.
[[nodiscard]] std::unique_ptr<Case> conv2d_case_of(const ProblemWords& words);
[[nodiscard]] Work conv2d_work(const Conv2d& problem);

/// "int32_h17_w33_f3x5_valid": every field that is not the default, but for the weights.
[[nodiscard]] std::string conv2d_case_name(const Conv2d& problem);

}  // namespace tessera::conformance
