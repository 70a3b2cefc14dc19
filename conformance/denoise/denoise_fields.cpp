// The fields of denoise's problem.
#include "conformance/denoise/denoise_case.h"
#include "conformance/problem_words.h"

namespace tessera::conformance {

namespace {

template <class Fields>
void visit_step(const std::string& name, DenoiseStep& step, Fields& fields) {
  fields.optional(name + "_patch", step.patch);
  fields.optional(name + "_window", step.window);
  fields.optional(name + "_step", step.step);
  fields.optional(name + "_max_patches", step.max_patches);
  fields.optional(name + "_threshold", step.threshold);
  fields.optional(name + "_transform", step.transform,
                  {PatchTransform::of_profile, PatchTransform::haar, PatchTransform::dct});
  fields.optional(name + "_kaiser", step.kaiser);
}

template <class Fields>
void visit(Denoise& problem, Fields& fields) {
  fields.required("size", problem.size);
  fields.optional("channels", problem.channels);
  fields.optional("sigma", problem.sigma);
  fields.optional("range", problem.range);
  fields.optional("stage", problem.stage, {DenoiseStage::both, DenoiseStage::hard_threshold, DenoiseStage::wiener});
  fields.optional("profile", problem.profile, {DenoiseProfile::fast, DenoiseProfile::normal, DenoiseProfile::high});
  visit_step("hard", problem.hard, fields);
  visit_step("wiener", problem.wiener, fields);
  fields.optional("shrinkage", problem.shrinkage);
  fields.type(problem.type);
}

}  // namespace

std::vector<Field> denoise_fields(const Denoise& problem) {
  Denoise copy = with_profile(problem);
  FieldWriter fields;
  visit(copy, fields);
  return fields.take();
}

std::unique_ptr<Case> denoise_case_of(const ProblemWords& words) {
  DenoiseSpec spec{.problem = {}, .purpose = Purpose::benchmark};
  FieldReader fields(Denoise::kName, words);
  visit(spec.problem, fields);
  fields.finish();
  return make_denoise_case(std::move(spec));
}

}  // namespace tessera::conformance
