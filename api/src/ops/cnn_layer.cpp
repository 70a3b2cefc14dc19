// cnn_layer in the front half: what a correct problem is, and how much of each operand it touches.
#include <tessera/ops/cnn_layer.h>

#include <array>
#include <cstdint>
#include <string>

#include "../operator_dispatch.h"
#include "../refuse.h"
#include "operand_size.h"

namespace tessera {

std::string_view to_string(Layout layout) noexcept {
  return layout == Layout::nhwc ? "nhwc" : "nchw";
}

namespace detail {
namespace {

using backend::sentence;

void check_size(const char* name, std::int64_t value, std::int64_t smallest) {
  if (value < smallest) refuse(sentence(name, " of cnn_layer is ", value, ", but must be at least ", smallest));
}

/// Bounds a stride or padding that no operand has room for: backends multiply with it all the same, and must not
/// overflow.
void check_step(const char* name, std::int64_t value) {
  if (value > kLargestOperandBytes)
    refuse(sentence(name, " of cnn_layer is ", value, ", but must be at most ", kLargestOperandBytes));
}

void check_pool(const CnnLayer& p) {
  if (p.pool_size < 1 || p.pool_size > 3)
    refuse(sentence("pool_size of cnn_layer is ", p.pool_size, ", but must be 1 (no pool), 2 or 3"));
  check_size("pool_stride", p.pool_stride, 0);
  if (p.pool_size == 1 && p.pool_stride > 1)
    refuse(
        sentence("pool_stride of cnn_layer is ", p.pool_stride, ", but without a pool (pool_size = 1) must be 0 or 1"));
}

/// The filter lies inside of the padded image, and the pool's window inside of what the filter gives.
void check_geometry(const CnnLayer& p, bool is_height) {
  const char* const name = is_height ? "height" : "width";
  const char* const lines = is_height ? " rows" : " columns";
  const std::int64_t size = is_height ? p.height : p.width;
  const std::int64_t filter = is_height ? p.filter_height : p.filter_width;
  std::int64_t padded = 0;
  if (__builtin_mul_overflow(p.padding, 2, &padded) || __builtin_add_overflow(padded, size, &padded))
    refuse(sentence("padding of cnn_layer is ", p.padding, ", but with ", name, " = ", size,
                    " passes the largest size, ", INT64_MAX));
  if (padded < filter)
    refuse(sentence(name, " of cnn_layer is ", size, " and padding is ", p.padding, ": ", size, " + 2 * ", p.padding,
                    " = ", padded, lines, ", but filter_", name, " is ", filter, " and must fit into them"));
  const std::int64_t convolved = (padded - filter) / p.stride + 1;
  if (convolved < p.pool_size)
    refuse(sentence("the convolution of cnn_layer gives (", size, " + 2 * ", p.padding, " - ", filter, ") / ", p.stride,
                    " + 1 = ", convolved, lines, ", but pool_size is ", p.pool_size, " and must fit into them"));
}

/// Elements of an operand; more than any address space holds are refused.
std::uint64_t elements(const char* name, std::array<std::int64_t, 4> sizes, DataType type) {
  const auto& [first, second, third, fourth] = sizes;
  if (is_too_large({first, second, third, fourth}, type)) {
    refuse(sentence("operand ", name, " of cnn_layer has ", first, " * ", second, " * ", third, " * ", fourth,
                    " elements of ", to_string(type), ", which passes the largest size, ", kLargestOperandBytes,
                    " bytes"));
  }
  return product({first, second, third, fourth});
}

std::uint64_t input_elements(const CnnLayer& p) {
  return elements("input", {p.batch, p.input_channels, p.height, p.width}, p.type);
}
std::uint64_t weight_elements(const CnnLayer& p) {
  return elements("weights", {p.output_channels, p.input_channels, p.filter_height, p.filter_width}, p.type);
}
std::uint64_t output_elements(const CnnLayer& p) {
  return elements("output", {p.batch, p.output_channels, p.output_height(), p.output_width()}, p.type);
}

}  // namespace

template <>
struct OperatorTraits<CnnLayer> {
  static constexpr std::size_t kWeights = 1;
  static constexpr auto kWeightsOperand = &CnnLayer::Operands::weights;

  static CnnLayer checked(const CnnLayer& asked) {
    check_size("batch", asked.batch, 0);
    check_size("input_channels", asked.input_channels, 1);
    check_size("output_channels", asked.output_channels, 1);
    check_size("height", asked.height, 1);
    check_size("width", asked.width, 1);
    check_size("filter_height", asked.filter_height, 1);
    check_size("filter_width", asked.filter_width, 1);
    check_size("stride", asked.stride, 1);
    check_size("padding", asked.padding, 0);
    check_step("stride", asked.stride);
    check_pool(asked);
    check_step("pool_stride", asked.pool_stride);
    if (asked.type != DataType::float32 && asked.type != DataType::float64)
      refuse(sentence("the type of cnn_layer is ", to_string(asked.type), ", but must be float32 or float64"));
    if (asked.layout > Layout::nhwc)
      refuse(
          sentence("layout of cnn_layer is the number ", static_cast<int>(asked.layout), ", but must be nchw or nhwc"));
    if (asked.accuracy > Accuracy::fast)
      refuse(sentence("accuracy of cnn_layer is the number ", static_cast<int>(asked.accuracy),
                      ", but must be strict, accurate or fast"));
    check_geometry(asked, true);
    check_geometry(asked, false);
    CnnLayer problem = asked;
    problem.pool_stride = asked.pool_step();
    (void)input_elements(problem);
    (void)weight_elements(problem);
    (void)output_elements(problem);
    // The padded input and the output before the pool need not exist in memory, but variants number their elements.
    (void)elements("input with its padding",
                   {problem.batch, problem.input_channels, problem.height + 2 * problem.padding,
                    problem.width + 2 * problem.padding},
                   problem.type);
    (void)elements("output before the pool",
                   {problem.batch, problem.output_channels, problem.convolved_height(), problem.convolved_width()},
                   problem.type);
    return problem;
  }

  static OperandSpec weights(const CnnLayer& p, const UntypedView& view) {
    return {"weights", &view, p.type, weight_elements(p), Access::read};
  }

  static std::array<OperandSpec, 4> operands(const CnnLayer& p, const CnnLayer::Operands& operands) {
    return {OperandSpec{"input", &operands.input.view(), p.type, input_elements(p), Access::read},
            weights(p, operands.weights.view()),
            OperandSpec{"bias", &operands.bias.view(), p.type, static_cast<std::uint64_t>(p.output_channels),
                        p.bias ? Access::read : Access::none},
            OperandSpec{"output", &operands.output.view(), p.type, output_elements(p), Access::write}};
  }

  static std::string key(const CnnLayer& p) {
    return sentence("batch=", p.batch, ",c=", p.input_channels, ",o=", p.output_channels, ",h=", p.height,
                    ",w=", p.width, ",fh=", p.filter_height, ",fw=", p.filter_width, ",stride=", p.stride,
                    ",padding=", p.padding, ",pool=", p.pool_size, ",pool_stride=", p.pool_stride, ",relu=", p.relu,
                    ",bias=", p.bias, ",layout=", to_string(p.layout), ",type=", to_string(p.type),
                    ",accuracy=", to_string(p.accuracy));
  }

  static std::string shape_class(const CnnLayer& p) {
    return ShapeClass()
        .exactly("type", to_string(p.type))
        .exactly("accuracy", to_string(p.accuracy))
        .exactly("layout", to_string(p.layout))
        .exactly("filter_height", p.filter_height)
        .exactly("filter_width", p.filter_width)
        .exactly("stride", p.stride)
        .exactly("padding", p.padding)
        .exactly("pool", p.pool_size)
        .exactly("pool_stride", p.pool_stride)
        .exactly("relu", p.relu)
        .exactly("bias", p.bias)
        .about("batch", p.batch)
        .about("input_channels", p.input_channels)
        .about("output_channels", p.output_channels)
        .about("height", p.height)
        .about("width", p.width)
        .take();
  }
};

}  // namespace detail

TESSERA_INSTANTIATE_OPERATOR_WITH_WEIGHTS(CnnLayer)

}  // namespace tessera
