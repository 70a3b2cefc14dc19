// The fields of gemm's problem, and what its matrices hold.
#include "conformance/gemm/gemm_case.h"
#include "conformance/problem_words.h"

namespace tessera::conformance {

namespace {

template <class Fields>
void visit(Gemm& problem, Values& values, Fields& fields) {
  fields.required("m", problem.m);
  fields.required("n", problem.n);
  fields.required("k", problem.k);
  fields.type(problem.type);
  fields.optional("transpose_a", problem.transpose_a);
  fields.optional("transpose_b", problem.transpose_b);
  fields.optional("alpha", problem.alpha);
  fields.optional("beta", problem.beta);
  fields.optional("lda", problem.lda);
  fields.optional("ldb", problem.ldb);
  fields.optional("ldc", problem.ldc);
  fields.optional("batch", problem.batch);
  fields.optional("stride_a", problem.stride_a);
  fields.optional("stride_b", problem.stride_b);
  fields.optional("stride_c", problem.stride_c);
  fields.optional("accuracy", problem.accuracy, {Accuracy::strict, Accuracy::accurate, Accuracy::fast});
  fields.optional("values", values, {Values::symmetric, Values::positive, Values::wide, Values::tiny, Values::large});
}

}  // namespace

std::vector<Field> gemm_fields(const Gemm& problem, Values values) {
  Gemm full = with_layout(problem);
  FieldWriter fields;
  visit(full, values, fields);
  return fields.take();
}

std::unique_ptr<Case> gemm_case_of(const ProblemWords& words) {
  GemmSpec spec{.problem = {}, .purpose = Purpose::benchmark};
  FieldReader fields(Gemm::kName, words);
  visit(spec.problem, spec.values, fields);
  fields.finish();
  if (spec.values != Values::symmetric) spec.note = to_string(spec.values);
  return make_gemm_case(std::move(spec));
}

}  // namespace tessera::conformance
