// conv2d in the front half: what a correct problem is, its filter turned into a correlation, and the operands' sizes.
#include <tessera/ops/conv2d.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "../operator_dispatch.h"
#include "../refuse.h"
#include "operand_size.h"

namespace tessera {

std::string_view to_string(Border border) noexcept {
  return border == Border::valid ? "valid" : "same";
}

namespace detail {
namespace {

using backend::sentence;

void check_size(const char* name, std::int64_t value, std::int64_t smallest, std::int64_t largest) {
  if (value < smallest) refuse(sentence(name, " of conv2d is ", value, ", but must be at least ", smallest));
  if (value > largest) refuse(sentence(name, " of conv2d is ", value, ", but must be at most ", largest));
}

void check_type(DataType type) {
  constexpr std::array kTypes{DataType::uint8, DataType::int16, DataType::int32, DataType::float32};
  if (std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end()) return;
  refuse(sentence("the type of conv2d is ", to_string(type), ", but must be uint8, int16, int32 or float32"));
}

/// The filter's weights, checked to be finite and, for integer images, int32; for float images rounded to float.
std::vector<double> checked_filter(const Conv2d& p) {
  const auto size = static_cast<std::size_t>(p.filter_height * p.filter_width);
  if (p.filter.size() != size) {
    refuse(sentence("the filter of conv2d has ", p.filter.size(), " values, but filter_height * filter_width = ",
                    p.filter_height, " * ", p.filter_width, " = ", size));
  }
  std::vector<double> weights = p.filter;
  for (std::size_t i = 0; i < size; ++i) {
    const auto name = [&] {
      return sentence("filter(", static_cast<std::int64_t>(i) / p.filter_width, ", ",
                      static_cast<std::int64_t>(i) % p.filter_width, ") of conv2d is ", weights[i]);
    };
    if (!std::isfinite(weights[i])) refuse(name() + ", but must be finite");
    if (p.type == DataType::float32) {
      if (std::fabs(weights[i]) > std::numeric_limits<float>::max()) {
        refuse(sentence(name(), ", but must be at most ", std::numeric_limits<float>::max(), " in float32"));
      }
      weights[i] = static_cast<double>(static_cast<float>(weights[i]));
    } else if (weights[i] != std::trunc(weights[i]) || weights[i] < INT32_MIN || weights[i] > INT32_MAX) {
      refuse(sentence(name(), ", but must be an int32 where images are of type ", to_string(p.type)));
    }
  }
  return weights;
}

std::int64_t checked_anchor(const char* name, std::int64_t anchor, const char* size_name, std::int64_t size) {
  if (anchor == Conv2d::kCentre) return (size - 1) / 2;
  if (anchor < 0 || anchor >= size) {
    refuse(sentence(name, " of conv2d is ", anchor, ", but must be at least 0 and less than ", size_name, " = ", size,
                    ", or Conv2d::kCentre"));
  }
  return anchor;
}

void check_fits(const char* name, std::int64_t size, const char* filter_name, std::int64_t filter) {
  if (size < filter) {
    refuse(sentence(name, " of conv2d is ", size, ", but with border valid must be at least ", filter_name, " = ",
                    filter));
  }
}

/// Elements of all images; more than any address space holds are refused.
std::uint64_t elements(const char* name, std::int64_t batch, std::int64_t height, std::int64_t width, DataType type) {
  if (is_too_large({batch, height, width}, type)) {
    refuse(sentence("operand ", name, " of conv2d has ", batch, " images of ", height, " x ", width, " ",
                    to_string(type), ", which passes the largest size, ", kLargestOperandBytes, " bytes"));
  }
  return product({batch, height, width});
}

std::uint64_t image_elements(const Conv2d& p) {
  return elements("image", p.batch, p.height, p.width, p.type);
}
std::uint64_t output_elements(const Conv2d& p) {
  return elements("output", p.batch, p.output_height(), p.output_width(), p.output_type());
}

}  // namespace

template <>
struct OperatorTraits<Conv2d> {
  static Conv2d checked(const Conv2d& asked) {
    constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
    check_size("height", asked.height, 0, kAny);
    check_size("width", asked.width, 0, kAny);
    check_size("filter_height", asked.filter_height, 1, Conv2d::kLargestFilter);
    check_size("filter_width", asked.filter_width, 1, Conv2d::kLargestFilter);
    check_size("batch", asked.batch, 0, kAny);
    check_type(asked.type);
    if (asked.border > Border::valid)
      refuse(
          sentence("border of conv2d is the number ", static_cast<int>(asked.border), ", but must be same or valid"));
    if (asked.accuracy > Accuracy::fast)
      refuse(sentence("accuracy of conv2d is the number ", static_cast<int>(asked.accuracy),
                      ", but must be strict, accurate or fast"));
    Conv2d problem = asked;
    problem.filter = checked_filter(asked);
    problem.anchor_y = checked_anchor("anchor_y", asked.anchor_y, "filter_height", asked.filter_height);
    problem.anchor_x = checked_anchor("anchor_x", asked.anchor_x, "filter_width", asked.filter_width);
    if (asked.border == Border::valid) {
      check_fits("height", asked.height, "filter_height", asked.filter_height);
      check_fits("width", asked.width, "filter_width", asked.filter_width);
    }
    if (asked.flip) {
      std::reverse(problem.filter.begin(), problem.filter.end());
      problem.anchor_y = problem.filter_height - 1 - problem.anchor_y;
      problem.anchor_x = problem.filter_width - 1 - problem.anchor_x;
      problem.flip = false;
    }
    if (asked.border == Border::valid) problem.anchor_y = problem.anchor_x = 0;
    (void)image_elements(problem);
    (void)output_elements(problem);
    return problem;
  }

  static std::array<OperandSpec, 2> operands(const Conv2d& problem, const Conv2d::Operands& operands) {
    return {
        OperandSpec{"image", &operands.image.view(), problem.type, image_elements(problem), Access::read},
        OperandSpec{"output", &operands.output.view(), problem.output_type(), output_elements(problem), Access::write}};
  }

  /// Holds the weights themselves too, because the choice of a variant may depend on them.
  static std::string key(const Conv2d& p) {
    std::string weights;
    for (const double weight : p.filter) weights += sentence(weights.empty() ? "" : ";", weight);
    return sentence("h=", p.height, ",w=", p.width, ",fh=", p.filter_height, ",fw=", p.filter_width,
                    ",border=", to_string(p.border), ",ay=", p.anchor_y, ",ax=", p.anchor_x,
                    ",type=", to_string(p.type), ",batch=", p.batch, ",accuracy=", to_string(p.accuracy),
                    ",filter=", weights);
  }

  static std::string shape_class(const Conv2d& p) {
    return ShapeClass()
        .exactly("type", to_string(p.type))
        .exactly("accuracy", to_string(p.accuracy))
        .exactly("border", to_string(p.border))
        .exactly("filter_height", p.filter_height)
        .exactly("filter_width", p.filter_width)
        .about("height", p.height)
        .about("width", p.width)
        .about("batch", p.batch)
        .take();
  }
};

}  // namespace detail

TESSERA_INSTANTIATE_OPERATOR(Conv2d)

}  // namespace tessera
