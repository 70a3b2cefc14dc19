// kernel_regression in the front half: what a correct problem is, and how much of each operand it touches.
#include <tessera/ops/kernel_regression.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "../refuse.h"
#include "../stream_dispatch.h"
#include "operand_size.h"

namespace tessera {

std::string_view to_string(Distance distance) noexcept {
  return distance == Distance::euclidean ? "euclidean" : "squared";
}

namespace detail {
namespace {

using backend::sentence;

void check_regression_size(const char* name, std::int64_t value, std::int64_t smallest) {
  if (value < smallest) refuse(sentence(name, " of kernel_regression is ", value, ", but must be at least ", smallest));
}

/// Elements of an operand; more than any address space holds are refused.
std::uint64_t elements(const char* name, std::int64_t rows, std::int64_t columns, DataType type) {
  if (is_too_large({rows, columns}, type)) {
    refuse(sentence("operand ", name, " of kernel_regression has ", rows, " * ", columns, " elements of ",
                    to_string(type), ", which passes the largest size, ", kLargestOperandBytes, " bytes"));
  }
  return product({rows, columns});
}

std::uint64_t training_elements(const KernelRegression& p) {
  return elements("training", p.centre_rows() + p.training_rows, p.columns, p.type);
}
std::uint64_t vote_elements(const KernelRegression& p) {
  return elements("votes", p.queries, p.classes, p.result_type());
}

constexpr Access wanted(bool is_wanted, Access access = Access::write) {
  return is_wanted ? access : Access::none;
}

}  // namespace

template <>
struct OperatorTraits<KernelRegression> {
  static constexpr std::size_t kWeights = 1;
  static constexpr auto kWeightsOperand = &KernelRegression::Operands::training;

  static KernelRegression checked(const KernelRegression& asked) {
    check_regression_size("training_rows", asked.training_rows, 1);
    check_regression_size("columns", asked.columns, 1);
    check_regression_size("queries", asked.queries, 0);
    check_regression_size("outputs", asked.outputs, 1);
    check_regression_size("classes", asked.classes, 0);
    check_regression_size("set_rows", asked.set_rows, 0);
    if (asked.set_rows != 0 && (!asked.is_slab || asked.set_rows < asked.training_rows))
      refuse(sentence("set_rows of kernel_regression is ", asked.set_rows,
                      ", but must be 0, or of a slab at least its ", asked.training_rows, " training rows"));
    if (!std::isfinite(asked.order) || asked.order < 0)
      refuse(sentence("order of kernel_regression is ", asked.order, ", but must be finite and at least 0"));
    if (!std::isfinite(asked.scale) || asked.scale <= 0)
      refuse(sentence("scale of kernel_regression is ", asked.scale, ", but must be finite and above 0"));
    if (asked.distance > Distance::euclidean)
      refuse(sentence("distance of kernel_regression is the number ", static_cast<int>(asked.distance),
                      ", but must be squared or euclidean"));
    if (asked.type != DataType::float32 && asked.type != DataType::float64 && asked.type != DataType::uint8)
      refuse(sentence("the type of kernel_regression is ", to_string(asked.type),
                      ", but must be float32, float64 or uint8"));
    if (asked.accuracy > Accuracy::fast)
      refuse(sentence("accuracy of kernel_regression is the number ", static_cast<int>(asked.accuracy),
                      ", but must be strict, accurate or fast"));
    for (const OperandSpec& operand : operands(asked, {})) (void)operand;
    // Variants may hold queries or training rows as their results' type, and a number for each pair of them.
    (void)elements("training", asked.centre_rows() + asked.training_rows, asked.columns, DataType::float64);
    (void)elements("queries", asked.queries, asked.columns, DataType::float64);
    (void)elements("distances", asked.queries, asked.training_rows, DataType::float64);
    return asked;
  }

  static OperandSpec weights(const KernelRegression& p, const UntypedView& view) {
    return {"training", &view, p.type, training_elements(p), Access::read};
  }

  static std::array<OperandSpec, 10> operands(const KernelRegression& p, const KernelRegression::Operands& operands) {
    const auto each_query = static_cast<std::uint64_t>(p.queries);
    const std::uint64_t states = p.is_slab ? elements("after", p.queries, p.state_numbers(), DataType::float64) : 0;
    return {OperandSpec{"queries", &operands.queries.view(), p.type, elements("queries", p.queries, p.columns, p.type),
                        Access::read},
            weights(p, operands.training.view()),
            OperandSpec{"targets", &operands.targets.view(), p.result_type(),
                        elements("targets", p.training_rows, p.outputs, p.result_type()), Access::read},
            OperandSpec{"values", &operands.values.view(), p.result_type(),
                        elements("values", p.queries, p.outputs, p.result_type()), Access::write},
            OperandSpec{"votes", &operands.votes.view(), p.result_type(), vote_elements(p), wanted(p.classes > 0)},
            OperandSpec{"nearest_row", &operands.nearest_row.view(), DataType::int64, each_query, wanted(p.nearest)},
            OperandSpec{"nearest_squared", &operands.nearest_squared.view(), p.squared_type(), each_query,
                        wanted(p.nearest)},
            OperandSpec{"neighbours", &operands.neighbours.view(), p.result_type(), each_query, wanted(p.neighbours)},
            OperandSpec{"before", &operands.before.view(), DataType::float64, states, wanted(p.is_slab, Access::read)},
            OperandSpec{"after", &operands.after.view(), DataType::float64, states, wanted(p.is_slab)}};
  }
  static std::array<HostMemory, 8> host_operands(const KernelRegression::HostOperands& o) {
    return {o.queries.memory(), o.training.memory(),    o.targets.memory(),         o.values.memory(),
            o.votes.memory(),   o.nearest_row.memory(), o.nearest_squared.memory(), o.neighbours.memory()};
  }

  static std::string key(const KernelRegression& p) {
    return sentence("training_rows=", p.training_rows, ",columns=", p.columns, ",queries=", p.queries,
                    ",outputs=", p.outputs, ",order=", p.order, ",scale=", p.scale, ",distance=", to_string(p.distance),
                    ",classes=", p.classes, ",nearest=", p.nearest, ",neighbours=", p.neighbours,
                    ",type=", to_string(p.type), ",accuracy=", to_string(p.accuracy),
                    p.is_slab ? sentence(",slab of ", p.set_rows) : "");
  }

  static std::string shape_class(const KernelRegression& p) {
    return ShapeClass()
        .exactly("type", to_string(p.type))
        .exactly("accuracy", to_string(p.accuracy))
        .exactly("distance", to_string(p.distance))
        .exactly("classes", p.classes)
        .exactly("nearest", p.nearest)
        .exactly("neighbours", p.neighbours)
        .exactly("is_slab", p.is_slab)
        .about("training_rows", p.training_rows)
        .about("columns", p.columns)
        .about("queries", p.queries)
        .about("outputs", p.outputs)
        .take();
  }
};

}  // namespace detail

TESSERA_INSTANTIATE_OPERATOR_WITH_WEIGHTS(KernelRegression)
TESSERA_INSTANTIATE_STREAM(KernelRegression)

}  // namespace tessera
