// The fields of cnn_layer's problem, and whether its weights are prepared.
#include "conformance/cnn_layer/cnn_layer_case.h"
#include "conformance/problem_words.h"

namespace tessera::conformance {

namespace {

template <class Fields>
void visit(CnnLayer& problem, bool& prepared, Fields& fields) {
  fields.optional("batch", problem.batch);
  fields.required("input_channels", problem.input_channels);
  fields.required("output_channels", problem.output_channels);
  fields.required("height", problem.height);
  fields.required("width", problem.width);
  fields.required("filter_height", problem.filter_height);
  fields.required("filter_width", problem.filter_width);
  fields.optional("stride", problem.stride);
  fields.optional("padding", problem.padding);
  fields.optional("pool_size", problem.pool_size);
  fields.optional("pool_stride", problem.pool_stride);
  fields.optional("relu", problem.relu);
  fields.optional("bias", problem.bias);
  fields.optional("layout", problem.layout, {Layout::nchw, Layout::nhwc});
  fields.type(problem.type);
  fields.optional("prepared", prepared);
  fields.optional("accuracy", problem.accuracy, {Accuracy::strict, Accuracy::accurate, Accuracy::fast});
}

}  // namespace

std::vector<Field> cnn_layer_fields(const CnnLayer& problem, bool prepared) {
  CnnLayer full = problem;
  full.pool_stride = problem.pool_step();
  FieldWriter fields;
  visit(full, prepared, fields);
  return fields.take();
}

std::unique_ptr<Case> cnn_layer_case_of(const ProblemWords& words) {
  CnnLayerSpec spec{.problem = {}, .purpose = Purpose::benchmark};
  FieldReader fields(CnnLayer::kName, words);
  visit(spec.problem, spec.prepared, fields);
  fields.finish();
  return make_cnn_layer_case(std::move(spec));
}

}  // namespace tessera::conformance
