// gemm in the front half: what a correct problem is, and how much of each operand it touches.
#include <tessera/ops/gemm.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "../operator_dispatch.h"

namespace tessera {
namespace detail {
namespace {

using backend::sentence;

void check_size(const char* name, std::int64_t value) {
  if (value < 0) {
    throw Error(ErrorCode::invalid_argument, sentence(name, " of gemm is ", value, ", but must be at least 0"));
  }
}

void check_leading_dimension(const char* name, std::int64_t value, const char* columns_name, std::int64_t columns) {
  if (value < columns) {
    throw Error(ErrorCode::invalid_argument,
                sentence(name, " of gemm is ", value, ", but must be at least ", columns_name, " = ", columns));
  }
}

/// Rounding to `type` must not turn a finite factor into infinity.
void check_factor(const char* name, double value, DataType type) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (type == DataType::float32 && std::isfinite(value) && std::fabs(value) > kLargest) {
    throw Error(ErrorCode::invalid_argument,
                sentence(name, " of gemm is ", value, ", but a finite one must be at most ", kLargest, " in float32"));
  }
}

/// Elements from the first to the last of a matrix; an index that would overflow is refused.
std::uint64_t extent(const char* name, std::int64_t rows, std::int64_t columns, std::int64_t leading, DataType type) {
  if (rows == 0 || columns == 0) return 0;
  std::int64_t last_row = 0;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows - 1, leading, &last_row) || __builtin_add_overflow(last_row, columns, &elements) ||
      __builtin_mul_overflow(elements, static_cast<std::int64_t>(size_bytes(type)), &bytes)) {
    throw Error(ErrorCode::invalid_argument,
                sentence("operand ", name, " of gemm has ", rows, " rows of leading dimension ", leading,
                         ", which passes the largest size, ", INT64_MAX, " bytes"));
  }
  return static_cast<std::uint64_t>(elements);
}

struct Extents {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
};

Extents extents(const Gemm& problem) {
  const auto& p = problem;
  return {p.transpose_a ? extent("a", p.k, p.m, p.lda, p.type) : extent("a", p.m, p.k, p.lda, p.type),
          p.transpose_b ? extent("b", p.n, p.k, p.ldb, p.type) : extent("b", p.k, p.n, p.ldb, p.type),
          extent("c", p.m, p.n, p.ldc, p.type)};
}

}  // namespace

template <>
struct OperatorTraits<Gemm> {
  static Gemm checked(const Gemm& asked) {
    check_size("m", asked.m);
    check_size("n", asked.n);
    check_size("k", asked.k);
    check_size("lda", asked.lda);
    check_size("ldb", asked.ldb);
    check_size("ldc", asked.ldc);
    if (asked.type != DataType::float32 && asked.type != DataType::float64) {
      throw Error(ErrorCode::invalid_argument,
                  sentence("the type of gemm is ", to_string(asked.type), ", but must be float32 or float64"));
    }
    check_factor("alpha", asked.alpha, asked.type);
    check_factor("beta", asked.beta, asked.type);
    const Gemm problem = with_leading_dimensions(asked);
    if (problem.transpose_a)
      check_leading_dimension("lda", problem.lda, "m", problem.m);
    else
      check_leading_dimension("lda", problem.lda, "k", problem.k);
    if (problem.transpose_b)
      check_leading_dimension("ldb", problem.ldb, "k", problem.k);
    else
      check_leading_dimension("ldb", problem.ldb, "n", problem.n);
    check_leading_dimension("ldc", problem.ldc, "n", problem.n);
    (void)extents(problem);
    return problem;
  }

  static std::array<OperandSpec, 3> operands(const Gemm& problem, const Gemm::Operands& operands) {
    const Extents elements = extents(problem);
    return {OperandSpec{"a", &operands.a.view(), problem.type, elements.a, Access::read},
            OperandSpec{"b", &operands.b.view(), problem.type, elements.b, Access::read},
            OperandSpec{"c", &operands.c.view(), problem.type, elements.c, Access::write}};
  }

  static std::string key(const Gemm& p) {
    return sentence("m=", p.m, ",n=", p.n, ",k=", p.k, ",type=", to_string(p.type), ",ta=", p.transpose_a,
                    ",tb=", p.transpose_b, ",alpha=", p.alpha, ",beta=", p.beta, ",lda=", p.lda, ",ldb=", p.ldb,
                    ",ldc=", p.ldc, ",accuracy=", to_string(p.accuracy));
  }
};

}  // namespace detail

TESSERA_INSTANTIATE_OPERATOR(Gemm)

}  // namespace tessera
