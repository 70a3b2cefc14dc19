// The fields of conv2d's problem. A person names the kind of filter, not its weights.
#include "conformance/conv2d/conv2d_case.h"
#include "conformance/conv2d/conv2d_filters.h"
#include "conformance/problem_words.h"

namespace tessera::conformance {

namespace {

template <class Fields>
void visit(Conv2d& problem, Fields& fields) {
  fields.required("height", problem.height);
  fields.required("width", problem.width);
  fields.required("filter_height", problem.filter_height);
  fields.required("filter_width", problem.filter_width);
  fields.type(problem.type);
  fields.optional("border", problem.border, {Border::same, Border::valid});
  fields.optional("flip", problem.flip);
  fields.optional("anchor_y", problem.anchor_y);
  fields.optional("anchor_x", problem.anchor_x);
  fields.optional("batch", problem.batch);
  fields.optional("accuracy", problem.accuracy, {Accuracy::strict, Accuracy::accurate, Accuracy::fast});
}

bool is_filter_size(std::int64_t size) {
  return size >= 1 && size <= Conv2d::kLargestFilter;
}

}  // namespace

std::vector<Field> conv2d_fields(const Conv2d& problem) {
  Conv2d copy = problem;
  FieldWriter fields;
  visit(copy, fields);
  return fields.take();
}

std::unique_ptr<Case> conv2d_case_of(const ProblemWords& words) {
  Conv2dSpec spec{.problem = {}, .purpose = Purpose::benchmark};
  Conv2d& problem = spec.problem;
  FieldReader fields(Conv2d::kName, words);
  visit(problem, fields);
  const bool is_rank_one = fields.choose("filter", {"random", "rank1"}) == 1;
  fields.finish();
  // A filter of a size that the library refuses stays without weights.
  if (is_filter_size(problem.filter_height) && is_filter_size(problem.filter_width)) {
    const FilterSize size{problem.filter_height, problem.filter_width};
    problem.filter = is_rank_one ? rank_one_filter(problem.type, size) : random_filter(problem.type, size);
  }
  if (is_rank_one) spec.note = "rank1";
  return make_conv2d_case(std::move(spec));
}

}  // namespace tessera::conformance
