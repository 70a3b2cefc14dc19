// oneDNN's functions, and primitives made and run by them.
#include "vendor/cpu_tbb_onednn_steps.h"

#include <tessera/error.h>

#include "backend/sentence.h"

namespace tessera::cpu_tbb::onednn {

namespace {

constexpr int kCpu = 1;
constexpr int kFloat32 = 3;
constexpr int kAnyLayout = 1;
constexpr int kRelu = 31;
constexpr int kScratchpad = 80;
constexpr int kScratchpadLayout = 136;
constexpr int kScratchpadOfCaller = 1;

}  // namespace

Functions::Functions() {
  const backend::SharedLibrary& library = onednn_library().shared();
  complete = onednn_library().major_version() == 2 && library.function(engine_create, "dnnl_engine_create") &&
             library.function(stream_create, "dnnl_stream_create") &&
             library.function(stream_wait, "dnnl_stream_wait") &&
             library.function(stream_destroy, "dnnl_stream_destroy") &&
             library.function(layout_by_strides, "dnnl_memory_desc_init_by_strides") &&
             library.function(layout_by_tag, "dnnl_memory_desc_init_by_tag") &&
             library.function(layout_equal, "dnnl_memory_desc_equal") &&
             library.function(layout_size, "dnnl_memory_desc_get_size") &&
             library.function(memory_create, "dnnl_memory_create") &&
             library.function(memory_destroy, "dnnl_memory_destroy") &&
             library.function(attributes_create, "dnnl_primitive_attr_create") &&
             library.function(attributes_destroy, "dnnl_primitive_attr_destroy") &&
             library.function(attributes_set_scratchpad, "dnnl_primitive_attr_set_scratchpad_mode") &&
             library.function(attributes_set_post, "dnnl_primitive_attr_set_post_ops") &&
             library.function(post_create, "dnnl_post_ops_create") &&
             library.function(post_destroy, "dnnl_post_ops_destroy") &&
             library.function(post_append, "dnnl_post_ops_append_eltwise") &&
             library.function(convolution, "dnnl_convolution_forward_desc_init") &&
             library.function(pool, "dnnl_pooling_forward_desc_init") &&
             library.function(choose, "dnnl_primitive_desc_create") &&
             library.function(choose_reorder, "dnnl_reorder_primitive_desc_create") &&
             library.function(layout_of, "dnnl_primitive_desc_query_md") &&
             library.function(choice_destroy, "dnnl_primitive_desc_destroy") &&
             library.function(primitive_create, "dnnl_primitive_create") &&
             library.function(primitive_destroy, "dnnl_primitive_destroy") &&
             library.function(execute, "dnnl_primitive_execute") && engine_create(&engine, kCpu, 0) == 0;
}

const Functions& functions() {
  static const auto& opened = *new Functions;
  return opened;
}

void expect(int status, const char* what) {
  if (status == 0) return;
  throw Error(ErrorCode::unsupported, backend::sentence("oneDNN has no ", what, " for this problem"),
              {status, "dnnl_status_t"});
}

Handle attributes(bool relu) {
  Handle made(functions().attributes_destroy);
  expect(functions().attributes_create(made.room()), "attributes");
  // We give it a scratchpad. One of the library's own would belong to the thread that makes the primitive, but another
  // thread runs it.
  expect(functions().attributes_set_scratchpad(made.get(), kScratchpadOfCaller), "scratchpad of the caller's");
  if (!relu) return made;
  Handle post(functions().post_destroy);
  expect(functions().post_create(post.room()), "list of post-operations");
  expect(functions().post_append(post.get(), 1, kRelu, 0, 0), "ReLU after a convolution");
  expect(functions().attributes_set_post(made.get(), post.get()), "ReLU after a convolution");
  return made;
}

Step::Step(const OperationDescriptor& operation, const Handle& with, const char* what)
    : choice_(functions().choice_destroy), primitive_(functions().primitive_destroy) {
  expect(functions().choose(choice_.room(), &operation, with.get(), functions().engine, nullptr), what);
}
Step::Step(Functions::Descriptor from, Functions::Descriptor to)
    : choice_(functions().choice_destroy), primitive_(functions().primitive_destroy) {
  const Handle plain = attributes(false);
  expect(functions().choose_reorder(choice_.room(), from, functions().engine, to, functions().engine, plain.get()),
         "change of layout");
}

void Step::compile() {
  expect(functions().primitive_create(primitive_.room(), choice_.get()), "primitive");
}

Functions::Descriptor Step::layout(int which) const {
  return functions().layout_of(choice_.get(), which, 0);
}
std::size_t Step::scratchpad_bytes() const {
  return functions().layout_size(layout(kScratchpadLayout));
}

void Step::run(void* stream, std::vector<Operand> operands, void* scratchpad) const {
  operands.push_back({kScratchpad, layout(kScratchpadLayout), scratchpad});
  std::vector<Handle> memories;
  std::vector<Argument> arguments;
  for (const Operand& operand : operands) {
    memories.emplace_back(functions().memory_destroy);
    expect(functions().memory_create(memories.back().room(), operand.layout, functions().engine, operand.address),
           "memory object");
    arguments.push_back({operand.kind, memories.back().get()});
  }
  expect(functions().execute(primitive_.get(), stream, static_cast<int>(arguments.size()), arguments.data()), "run");
  expect(functions().stream_wait(stream), "run");
}

MemoryDescriptor any_layout(const Sizes& sizes, int count) {
  MemoryDescriptor layout;
  expect(functions().layout_by_tag(&layout, count, sizes, kFloat32, kAnyLayout), "layout");
  return layout;
}
MemoryDescriptor packed(const Sizes& sizes, int count, const Sizes& strides) {
  MemoryDescriptor layout;
  expect(functions().layout_by_strides(&layout, count, sizes, kFloat32, strides), "layout");
  return layout;
}
MemoryDescriptor images(const Sizes& sizes, Layout layout) {
  const auto [n, c, h, w] = std::array{sizes[0], sizes[1], sizes[2], sizes[3]};
  static_cast<void>(n);
  if (layout == Layout::nhwc) return packed(sizes, 4, {h * w * c, 1, w * c, c});
  return packed(sizes, 4, {c * h * w, h * w, w, 1});
}

}  // namespace tessera::cpu_tbb::onednn
