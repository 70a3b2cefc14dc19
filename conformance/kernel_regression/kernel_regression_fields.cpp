// The fields of kernel_regression's problem, and whether its training set is prepared.
#include "conformance/kernel_regression/kernel_regression_case.h"
#include "conformance/problem_words.h"

namespace tessera::conformance {

namespace {

template <class Fields>
void visit(KernelRegression& problem, bool& prepared, Fields& fields) {
  fields.required("training_rows", problem.training_rows);
  fields.required("columns", problem.columns);
  fields.required("queries", problem.queries);
  fields.optional("outputs", problem.outputs);
  fields.optional("order", problem.order);
  fields.optional("scale", problem.scale);
  fields.optional("distance", problem.distance, {Distance::squared, Distance::euclidean});
  fields.optional("classes", problem.classes);
  fields.optional("nearest", problem.nearest);
  fields.optional("neighbours", problem.neighbours);
  fields.type(problem.type);
  fields.optional("prepared", prepared);
  fields.optional("accuracy", problem.accuracy, {Accuracy::strict, Accuracy::accurate, Accuracy::fast});
}

}  // namespace

std::vector<Field> regression_fields(const KernelRegression& problem, bool prepared) {
  KernelRegression copy = problem;
  FieldWriter fields;
  visit(copy, prepared, fields);
  return fields.take();
}

std::unique_ptr<Case> kernel_regression_case_of(const ProblemWords& words) {
  RegressionSpec spec{.problem = {}, .purpose = Purpose::benchmark, .rows = RegressionRows::clusters};
  FieldReader fields(KernelRegression::kName, words);
  visit(spec.problem, spec.prepared, fields);
  fields.finish();
  return make_regression_case(std::move(spec));
}

}  // namespace tessera::conformance
