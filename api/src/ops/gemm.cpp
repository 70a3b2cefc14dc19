// gemm in the front half: what a correct problem is, and how much of each operand it touches.
#include <tessera/ops/gemm.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "../operator_dispatch.h"
#include "operand_size.h"

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

void check_stride(const char* name, std::int64_t value) {
  if (value < 0) {
    throw Error(ErrorCode::invalid_argument,
                sentence(name, " of gemm is ", value, ", but must be at least 0, or Gemm::kPacked"));
  }
}

/// The matrices of an operand, one for each product of the batch.
struct Matrices {
  const char* name;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;
  std::int64_t batch;
  std::int64_t stride;
};

/// Elements from the first to the last of the matrices; more than any address space holds are refused. For that check
/// the gaps behind the last row and the last matrix count too, because backends may step over them. Matrices without
/// elements, whose packed stride is 0, count as if they lay one behind the other.
std::uint64_t extent(const Matrices& operand, DataType type) {
  const auto& [name, rows, columns, leading, batch, stride] = operand;
  const bool is_empty = rows == 0 || columns == 0 || batch == 0;
  if (is_too_large({rows, leading}, type) || is_too_large({batch, stride}, type) ||
      (is_empty && is_too_large({batch, rows, leading}, type))) {
    const std::string which = batch == 1 ? "" : sentence(batch, " matrices with stride ", stride, ", each of ");
    throw Error(ErrorCode::invalid_argument,
                sentence("operand ", name, " of gemm has ", which, rows, " rows of leading dimension ", leading,
                         ", which passes the largest size, ", kLargestOperandBytes, " bytes"));
  }
  if (is_empty) return 0;
  return static_cast<std::uint64_t>((batch - 1) * stride + (rows - 1) * leading + columns);
}

/// Refuses matrices of C that overlap. They may follow each other, or lie beside each other in the same rows.
void check_no_overlap(const Gemm& problem) {
  const auto& p = problem;
  if (p.batch <= 1 || p.m == 0 || p.n == 0) return;
  const auto one = static_cast<std::int64_t>(extent({"c", p.m, p.n, p.ldc, 1, 0}, p.type));
  if (p.stride_c >= one) return;
  const std::int64_t all_columns = (p.batch - 1) * p.stride_c + p.n;  // extent() was asked: no overflow
  if (p.stride_c >= p.n && all_columns <= p.ldc) return;
  throw Error(ErrorCode::invalid_argument,
              sentence("stride_c of gemm is ", p.stride_c, ", so that matrices of C overlap: it must be at least ", one,
                       " = (m - 1) * ldc + n, or at least n = ", p.n, " with rows that hold all ", p.batch,
                       " matrices side by side, ldc at least ", all_columns));
}

struct Extents {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
};

Extents extents(const Gemm& problem) {
  const auto& p = problem;
  const Matrices a = p.transpose_a ? Matrices{"a", p.k, p.m, p.lda, p.batch, p.stride_a}
                                   : Matrices{"a", p.m, p.k, p.lda, p.batch, p.stride_a};
  const Matrices b = p.transpose_b ? Matrices{"b", p.n, p.k, p.ldb, p.batch, p.stride_b}
                                   : Matrices{"b", p.k, p.n, p.ldb, p.batch, p.stride_b};
  return {extent(a, p.type), extent(b, p.type), extent({"c", p.m, p.n, p.ldc, p.batch, p.stride_c}, p.type)};
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
    check_size("batch", asked.batch);
    if (asked.type != DataType::float32 && asked.type != DataType::float64) {
      throw Error(ErrorCode::invalid_argument,
                  sentence("the type of gemm is ", to_string(asked.type), ", but must be float32 or float64"));
    }
    if (asked.accuracy > Accuracy::fast) {
      throw Error(ErrorCode::invalid_argument,
                  sentence("accuracy of gemm is the number ", static_cast<int>(asked.accuracy),
                           ", but must be strict, accurate or fast"));
    }
    check_factor("alpha", asked.alpha, asked.type);
    check_factor("beta", asked.beta, asked.type);
    const Gemm problem = with_layout(asked);
    if (problem.transpose_a)
      check_leading_dimension("lda", problem.lda, "m", problem.m);
    else
      check_leading_dimension("lda", problem.lda, "k", problem.k);
    if (problem.transpose_b)
      check_leading_dimension("ldb", problem.ldb, "k", problem.k);
    else
      check_leading_dimension("ldb", problem.ldb, "n", problem.n);
    check_leading_dimension("ldc", problem.ldc, "n", problem.n);
    check_stride("stride_a", problem.stride_a);
    check_stride("stride_b", problem.stride_b);
    check_stride("stride_c", problem.stride_c);
    (void)extents(problem);
    check_no_overlap(problem);
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
                    ",ldc=", p.ldc, ",batch=", p.batch, ",sa=", p.stride_a, ",sb=", p.stride_b, ",sc=", p.stride_c,
                    ",accuracy=", to_string(p.accuracy));
  }

  static std::string shape_class(const Gemm& p) {
    Gemm packed = p;
    packed.lda = packed.ldb = packed.ldc = 0;
    packed.stride_a = packed.stride_b = packed.stride_c = Gemm::kPacked;
    return ShapeClass()
        .exactly("type", to_string(p.type))
        .exactly("accuracy", to_string(p.accuracy))
        .exactly("transpose_a", p.transpose_a)
        .exactly("transpose_b", p.transpose_b)
        .exactly("reads_c", p.beta != 0)
        .exactly("is_packed", with_layout(packed) == p)
        .about("m", p.m)
        .about("n", p.n)
        .about("k", p.alpha != 0 ? p.k : 0)
        .about("batch", p.batch)
        .take();
  }
};

}  // namespace detail

TESSERA_INSTANTIATE_OPERATOR(Gemm)

}  // namespace tessera
