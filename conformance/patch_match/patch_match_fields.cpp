// The fields of patch_match's problem.
#include "conformance/patch_match/patch_match_case.h"
#include "conformance/problem_words.h"

namespace tessera::conformance {

namespace {

template <class Fields>
void visit(PatchMatch& problem, Fields& fields) {
  fields.required("size", problem.size);
  fields.required("patch", problem.patch);
  fields.required("window", problem.window);
  fields.optional("step", problem.step);
  fields.optional("max_patches", problem.max_patches);
  fields.optional("threshold", problem.threshold);
  fields.type(problem.type);
}

}  // namespace

std::vector<Field> patch_fields(const PatchMatch& problem) {
  PatchMatch copy = problem;
  FieldWriter fields;
  visit(copy, fields);
  return fields.take();
}

std::unique_ptr<Case> patch_match_case_of(const ProblemWords& words) {
  PatchSpec spec{.problem = {}, .purpose = Purpose::benchmark, .volume = PatchVolume::phantom};
  FieldReader fields(PatchMatch::kName, words);
  visit(spec.problem, fields);
  fields.finish();
  return make_patch_case(std::move(spec));
}

}  // namespace tessera::conformance
