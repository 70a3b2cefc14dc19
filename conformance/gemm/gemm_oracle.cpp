// The oracle of gemm.
#include "conformance/gemm/gemm_oracle.h"

#include <cmath>

namespace tessera::conformance {

SumBound gemm_bound(const Gemm& problem, double alpha, double beta) {
  const Arithmetic arithmetic = arithmetic_of(problem.type);
  const auto rounds = [](double factor) { return factor != 0 && std::abs(factor) != 1 ? 1.0 : 0.0; };
  const double products = alpha != 0 ? static_cast<double>(problem.k) : 0.0;  // with k = 0 alpha may be NaN
  // Roundings that one product meets on its way into C, and those that beta * c meets: the larger of the two.
  double roundings = rounds(beta);
  double underflow = rounds(beta) * arithmetic.smallest_normal;
  if (products > 0) {
    roundings = products + rounds(alpha) + (beta != 0 ? 1.0 : 0.0);
    // Small numbers first: alpha may be near the largest one.
    underflow = 2 * products * arithmetic.smallest_normal * std::abs(alpha) + 3 * arithmetic.smallest_normal;
  }
  return {.roundings = roundings,
          .relative = gamma(roundings, arithmetic.unit_roundoff) * bound_rounding(products),
          .absolute = underflow};
}

template <class T>
ExpectedSum gemm_element(const GemmInputs<T>& inputs, std::int64_t row, std::int64_t column) {
  ExactSum sum;
  double products = 0;
  double squares = 0;
  if (inputs.alpha != 0) {
    for (std::int64_t p = 0; p < inputs.problem.k; ++p) {
      const auto a = static_cast<T>(inputs.a_at(row, p));
      const auto b = static_cast<T>(inputs.b_at(p, column));
      sum.add_product(a, b);
      const double product = static_cast<double>(a) * static_cast<double>(b);
      products += std::abs(product);
      squares += product * product;
    }
  }
  const SumBound bound = gemm_bound(inputs.problem, inputs.alpha, inputs.beta);
  double allowed = bound.absolute;
  ExpectedSum expected;
  ExactSum result;
  if (inputs.alpha != 0 && inputs.problem.k > 0) {
    result.add_product(inputs.alpha, sum.value());
    allowed += bound.relative * products * std::abs(inputs.alpha);  // in this order, likewise
    expected.magnitude += products * std::abs(inputs.alpha);
    expected.square += squares * inputs.alpha * inputs.alpha;
  }
  if (inputs.beta != 0) {
    const double c = inputs.c_at(row, column);
    result.add_product(inputs.beta, c);
    allowed += bound.relative * std::abs(inputs.beta * c);
    expected.magnitude += std::abs(inputs.beta * c);
    expected.square += inputs.beta * c * (inputs.beta * c);
  }
  expected.value = result.value();
  expected.bound = allowed;
  return expected;
}

template ExpectedSum gemm_element(const GemmInputs<float>&, std::int64_t, std::int64_t);
template ExpectedSum gemm_element(const GemmInputs<double>&, std::int64_t, std::int64_t);

}  // namespace tessera::conformance
