// One case of cnn_layer: a problem, what its operands hold, and how they lie in memory.
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

/// A value put into one element of an operand, counted as it lies in memory, after it was filled.
struct CnnLayerPlant {
  char operand = 'i';  ///< input, weights or bias, by its first letter
  std::int64_t index = 0;
  double value = 0;
};

struct CnnLayerSpec {
  CnnLayer problem;
  Purpose purpose = Purpose::conformance;
  Values values = Values::symmetric;
  double pixel_scale = 1;  ///< every pixel is multiplied by it, before plants
  std::vector<CnnLayerPlant> plants = {};
  std::string note = {};         ///< appended to the name: what the numbers don't say
  std::size_t misalignment = 0;  ///< elements between an aligned address and the operands' first elements
  bool prepared = true;          ///< run with prepared weights, not with raw ones
  bool every_tuning = false;
  std::string_view part = "";  ///< of a study
};

[[nodiscard]] std::unique_ptr<Case> make_cnn_layer_case(CnnLayerSpec spec);

/// The problem field by field, and whether its weights are prepared.
[[nodiscard]] std::vector<Field> cnn_layer_fields(const CnnLayer& problem, bool prepared);
/// What the fields' words say, to be measured. Errors as FieldReader.
[[nodiscard]] std::unique_ptr<Case> cnn_layer_case_of(const ProblemWords& words);
/// Products as the direct method counts them, those that a pool leaves out at the edges not among them.
[[nodiscard]] Work cnn_layer_work(const CnnLayer& problem);

/// "float32_c3_o8_h17_w33_f5x5_pad2_pool2": every field that is not the default.
[[nodiscard]] std::string cnn_layer_case_name(const CnnLayer& problem);

}  // namespace tessera::conformance
