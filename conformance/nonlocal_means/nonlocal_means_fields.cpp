// The fields of nonlocal_means' problem.
#include "conformance/nonlocal_means/nonlocal_means_case.h"
#include "conformance/problem_words.h"

namespace tessera::conformance {

namespace {

template <class Fields>
void visit(NonlocalMeans& problem, Fields& fields) {
  fields.required("size", problem.size);
  fields.optional("channels", problem.channels);
  fields.optional("sigma", problem.sigma);
  fields.optional("strength", problem.strength);
  fields.optional("patch", problem.patch);
  fields.optional("window", problem.window);
  fields.type(problem.type);
}

}  // namespace

std::vector<Field> means_fields(const NonlocalMeans& problem) {
  NonlocalMeans copy = with_usual_parameters(problem);
  FieldWriter fields;
  visit(copy, fields);
  return fields.take();
}

std::unique_ptr<Case> nonlocal_means_case_of(const ProblemWords& words) {
  MeansSpec spec{.problem = {}, .purpose = Purpose::benchmark};
  FieldReader fields(NonlocalMeans::kName, words);
  visit(spec.problem, fields);
  fields.finish();
  return make_means_case(std::move(spec));
}

}  // namespace tessera::conformance
