// oneDNN's C interface, version 2, as far as the chain needs it, declared here so that the build does not need its
// header. Of its descriptors only the size matters here, because only the library reads and writes them: they are given
// more bytes than version 2.6 needs (696 and 5976).
#include "ops/cnn_layer/cnn_layer_onednn.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "cpu_tbb_onednn.h"

namespace tessera::cpu_tbb {

namespace {

using backend::sentence;
using backend::Verdict;

template <std::size_t kBytes>
struct alignas(16) Room {
  std::array<std::byte, kBytes> bytes{};
};
using MemoryDescriptor = Room<4096>;
using OperationDescriptor = Room<32768>;
using Sizes = std::array<std::int64_t, 12>;

struct Argument {
  int kind;
  void* memory;
};

constexpr int kCpu = 1;
constexpr int kFloat32 = 3;
constexpr int kAnyLayout = 1;
constexpr int kInference = 96;
constexpr int kDirectConvolution = 1;
constexpr int kRelu = 31;
constexpr int kMaxPool = 511;
constexpr int kSource = 1;
constexpr int kDestination = 17;
constexpr int kWeights = 33;
constexpr int kBias = 41;
constexpr int kScratchpad = 80;
constexpr int kSourceLayout = 129;
constexpr int kWeightsLayout = 131;
constexpr int kDestinationLayout = 133;
constexpr int kScratchpadLayout = 136;
constexpr int kScratchpadOfCaller = 1;
constexpr unsigned kInOrder = 1;

/// The functions, opened on first use and for the life of the process.
struct Onednn {
  using Descriptor = const void*;  ///< a MemoryDescriptor of ours, or the library's own
  int (*engine_create)(void**, int, std::size_t) = nullptr;
  int (*stream_create)(void**, void*, unsigned) = nullptr;
  int (*stream_wait)(void*) = nullptr;
  int (*stream_destroy)(void*) = nullptr;
  int (*layout_by_strides)(MemoryDescriptor*, int, const Sizes&, int, const Sizes&) = nullptr;
  int (*layout_by_tag)(MemoryDescriptor*, int, const Sizes&, int, int) = nullptr;
  int (*layout_equal)(Descriptor, Descriptor) = nullptr;
  std::size_t (*layout_size)(Descriptor) = nullptr;
  int (*memory_create)(void**, Descriptor, void*, void*) = nullptr;
  int (*memory_destroy)(void*) = nullptr;
  int (*attributes_create)(void**) = nullptr;
  int (*attributes_destroy)(void*) = nullptr;
  int (*attributes_set_scratchpad)(void*, int) = nullptr;
  int (*attributes_set_post)(void*, const void*) = nullptr;
  int (*post_create)(void**) = nullptr;
  int (*post_destroy)(void*) = nullptr;
  int (*post_append)(void*, float, int, float, float) = nullptr;
  int (*convolution)(OperationDescriptor*, int, int, Descriptor, Descriptor, Descriptor, Descriptor, const Sizes&,
                     const Sizes&, const Sizes&) = nullptr;
  int (*pool)(OperationDescriptor*, int, int, Descriptor, Descriptor, const Sizes&, const Sizes&, const Sizes&,
              const Sizes&) = nullptr;
  int (*choose)(void**, const OperationDescriptor*, const void*, void*, const void*) = nullptr;
  int (*choose_reorder)(void**, Descriptor, void*, Descriptor, void*, const void*) = nullptr;
  Descriptor (*layout_of)(const void*, int, int) = nullptr;
  int (*choice_destroy)(void*) = nullptr;
  int (*primitive_create)(void**, const void*) = nullptr;
  int (*primitive_destroy)(void*) = nullptr;
  int (*execute)(const void*, void*, int, const Argument*) = nullptr;
  void* engine = nullptr;
  bool complete = false;

  Onednn() {
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
};

const Onednn& onednn() {
  static const auto& functions = *new Onednn;
  return functions;
}

void expect(int status, const char* what) {
  if (status == 0) return;
  throw Error(ErrorCode::unsupported, sentence("oneDNN has no ", what, " for this problem"), {status, "dnnl_status_t"});
}

/// An object of oneDNN's that dies with this one.
class Handle {
 public:
  explicit Handle(int (*destroy)(void*)) : destroy_(destroy) {}
  Handle(Handle&& other) noexcept : destroy_(other.destroy_), object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (object_ != nullptr) destroy_(object_);
  }
  [[nodiscard]] void** room() noexcept { return &object_; }
  [[nodiscard]] void* get() const noexcept { return object_; }

 private:
  int (*destroy_)(void*);
  void* object_ = nullptr;
};

/// For the life of this object the library computes on so many threads when this thread calls it.
class Threads {
 public:
  explicit Threads(int threads) : before_(onednn_library().threads()) { onednn_library().set_threads(threads); }
  ~Threads() { onednn_library().set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

Handle attributes(bool relu) {
  Handle made(onednn().attributes_destroy);
  expect(onednn().attributes_create(made.room()), "attributes");
  // We give it a scratchpad. One of the library's own would belong to the thread that makes the primitive, but another
  // thread runs it.
  expect(onednn().attributes_set_scratchpad(made.get(), kScratchpadOfCaller), "scratchpad of the caller's");
  if (!relu) return made;
  Handle post(onednn().post_destroy);
  expect(onednn().post_create(post.room()), "list of post-operations");
  expect(onednn().post_append(post.get(), 1, kRelu, 0, 0), "ReLU after a convolution");
  expect(onednn().attributes_set_post(made.get(), post.get()), "ReLU after a convolution");
  return made;
}

/// One primitive with its choice of layouts.
class Step {
 public:
  Step(const OperationDescriptor& operation, const Handle& with, const char* what)
      : choice_(onednn().choice_destroy), primitive_(onednn().primitive_destroy) {
    expect(onednn().choose(choice_.room(), &operation, with.get(), onednn().engine, nullptr), what);
  }
  Step(Onednn::Descriptor from, Onednn::Descriptor to)
      : choice_(onednn().choice_destroy), primitive_(onednn().primitive_destroy) {
    const Handle plain = attributes(false);
    expect(onednn().choose_reorder(choice_.room(), from, onednn().engine, to, onednn().engine, plain.get()),
           "change of layout");
  }
  void compile() { expect(onednn().primitive_create(primitive_.room(), choice_.get()), "primitive"); }
  [[nodiscard]] Onednn::Descriptor layout(int which) const { return onednn().layout_of(choice_.get(), which, 0); }
  [[nodiscard]] std::size_t scratchpad_bytes() const { return onednn().layout_size(layout(kScratchpadLayout)); }

  /// `operands`: kind, layout and address of each.
  struct Operand {
    int kind;
    Onednn::Descriptor layout;
    void* address;
  };
  void run(void* stream, std::vector<Operand> operands, void* scratchpad) const {
    operands.push_back({kScratchpad, layout(kScratchpadLayout), scratchpad});
    std::vector<Handle> memories;
    std::vector<Argument> arguments;
    for (const Operand& operand : operands) {
      memories.emplace_back(onednn().memory_destroy);
      expect(onednn().memory_create(memories.back().room(), operand.layout, onednn().engine, operand.address),
             "memory object");
      arguments.push_back({operand.kind, memories.back().get()});
    }
    expect(onednn().execute(primitive_.get(), stream, static_cast<int>(arguments.size()), arguments.data()), "run");
    expect(onednn().stream_wait(stream), "run");
  }

 private:
  Handle choice_;
  Handle primitive_;
};

MemoryDescriptor any_layout(const Sizes& sizes, int count) {
  MemoryDescriptor layout;
  expect(onednn().layout_by_tag(&layout, count, sizes, kFloat32, kAnyLayout), "layout");
  return layout;
}
MemoryDescriptor packed(const Sizes& sizes, int count, const Sizes& strides) {
  MemoryDescriptor layout;
  expect(onednn().layout_by_strides(&layout, count, sizes, kFloat32, strides), "layout");
  return layout;
}
MemoryDescriptor images(const Sizes& sizes, Layout layout) {
  const auto [n, c, h, w] = std::array{sizes[0], sizes[1], sizes[2], sizes[3]};
  static_cast<void>(n);
  if (layout == Layout::nhwc) return packed(sizes, 4, {h * w * c, 1, w * c, c});
  return packed(sizes, 4, {c * h * w, h * w, w, 1});
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

class OnednnLayer::Chain {
 public:
  explicit Chain(const CnnLayer& p)
      : input_(images({p.batch, p.input_channels, p.height, p.width}, p.layout)),
        output_(images({p.batch, p.output_channels, p.output_height(), p.output_width()}, p.layout)),
        raw_weights_(packed({p.output_channels, p.input_channels, p.filter_height, p.filter_width}, 4,
                            {p.input_channels * p.filter_height * p.filter_width, p.filter_height * p.filter_width,
                             p.filter_width, 1})),
        has_bias_(p.bias),
        convolution_(make_convolution(p)) {
    convolved_ = convolution_.layout(kDestinationLayout);
    if (p.pool_size > 1) steps_.push_back(make_pool(p));
    const Onednn::Descriptor last = p.pool_size > 1 ? steps_.back().layout(kDestinationLayout) : convolved_;
    is_pooled_ = p.pool_size > 1;
    if (onednn().layout_equal(&input_, convolution_.layout(kSourceLayout)) == 0)
      before_.emplace_back(&input_, convolution_.layout(kSourceLayout));
    if (onednn().layout_equal(&output_, last) == 0) after_.emplace_back(last, &output_);
    weights_.emplace_back(&raw_weights_, convolution_.layout(kWeightsLayout));
  }
  void compile() {
    convolution_.compile();
    for (std::vector<Step>* list : {&steps_, &before_, &after_, &weights_}) {
      for (Step& step : *list) step.compile();
    }
  }
  [[nodiscard]] std::size_t prepared_bytes() const { return onednn().layout_size(convolution_.layout(kWeightsLayout)); }
  void prepare(void* stream, ScratchPool& pool, const std::byte* raw, std::byte* prepared) const {
    const ScratchPool::Loan scratchpad(pool, weights_.front().scratchpad_bytes() + 64);
    weights_.front().run(stream,
                         {{kSource, &raw_weights_, const_cast<std::byte*>(raw)},
                          {kDestination, convolution_.layout(kWeightsLayout), prepared}},
                         scratchpad.data());
  }
  void run(void* stream, ScratchPool& pool, const std::byte* input, const std::byte* weights, const std::byte* bias,
           std::byte* output) const {
    std::size_t scratchpad_bytes = convolution_.scratchpad_bytes();
    for (const std::vector<Step>* list : {&steps_, &before_, &after_}) {
      for (const Step& step : *list) scratchpad_bytes = std::max(scratchpad_bytes, step.scratchpad_bytes());
    }
    const Onednn::Descriptor source = convolution_.layout(kSourceLayout);
    const Onednn::Descriptor last = is_pooled_ ? steps_.front().layout(kDestinationLayout) : convolved_;
    const std::size_t source_bytes = before_.empty() ? 0 : aligned(onednn().layout_size(source));
    const std::size_t sums_bytes = is_pooled_ ? aligned(onednn().layout_size(convolved_)) : 0;
    const std::size_t last_bytes = after_.empty() ? 0 : aligned(onednn().layout_size(last));
    const ScratchPool::Loan loan(pool, source_bytes + sums_bytes + last_bytes + scratchpad_bytes + 64);
    std::byte* const scratchpad = loan.data() + source_bytes + sums_bytes + last_bytes;
    std::byte* const result = after_.empty() ? output : loan.data() + source_bytes + sums_bytes;
    std::byte* const sums = is_pooled_ ? loan.data() + source_bytes : result;
    auto* pixels = const_cast<std::byte*>(input);
    if (!before_.empty()) {
      before_.front().run(stream, {{kSource, &input_, pixels}, {kDestination, source, loan.data()}}, scratchpad);
      pixels = loan.data();
    }
    std::vector<Step::Operand> operands{
        {kSource, source, pixels},
        {kWeights, convolution_.layout(kWeightsLayout), const_cast<std::byte*>(weights)},
        {kDestination, convolved_, sums}};
    if (has_bias_) operands.push_back({kBias, &bias_, const_cast<std::byte*>(bias)});
    convolution_.run(stream, std::move(operands), scratchpad);
    if (is_pooled_) steps_.front().run(stream, {{kSource, convolved_, sums}, {kDestination, last, result}}, scratchpad);
    if (!after_.empty())
      after_.front().run(stream, {{kSource, last, result}, {kDestination, &output_, output}}, scratchpad);
  }

 private:
  Step make_convolution(const CnnLayer& p) {
    const MemoryDescriptor source = any_layout({p.batch, p.input_channels, p.height, p.width}, 4);
    const MemoryDescriptor weights =
        any_layout({p.output_channels, p.input_channels, p.filter_height, p.filter_width}, 4);
    const MemoryDescriptor sums =
        any_layout({p.batch, p.output_channels, p.convolved_height(), p.convolved_width()}, 4);
    bias_ = packed({p.output_channels}, 1, {1});
    OperationDescriptor operation;
    expect(
        onednn().convolution(&operation, kInference, kDirectConvolution, &source, &weights, p.bias ? &bias_ : nullptr,
                             &sums, {p.stride, p.stride}, {p.padding, p.padding}, {p.padding, p.padding}),
        "convolution");
    return {operation, attributes(p.relu), "convolution"};
  }
  [[nodiscard]] Step make_pool(const CnnLayer& p) const {
    const MemoryDescriptor pooled = any_layout({p.batch, p.output_channels, p.output_height(), p.output_width()}, 4);
    OperationDescriptor operation;
    expect(onednn().pool(&operation, kInference, kMaxPool, convolved_, &pooled, {p.pool_stride, p.pool_stride},
                         {p.pool_size, p.pool_size}, {0, 0}, {0, 0}),
           "max-pool");
    return {operation, attributes(false), "max-pool"};
  }

  MemoryDescriptor input_;
  MemoryDescriptor output_;
  MemoryDescriptor raw_weights_;
  MemoryDescriptor bias_;
  bool has_bias_;
  bool is_pooled_ = false;
  Step convolution_;
  Onednn::Descriptor convolved_ = nullptr;
  std::vector<Step> steps_;    // the pool, or nothing
  std::vector<Step> before_;   // the input's change of layout, or nothing
  std::vector<Step> after_;    // the output's, or nothing
  std::vector<Step> weights_;  // the weights'
};

namespace {

/// Calls `work(stream)` with a stream of its own, on so many threads.
template <class Work>
void with_stream(int threads, const Work& work) {
  const Threads limit(threads);
  Handle stream(onednn().stream_destroy);
  expect(onednn().stream_create(stream.room(), onednn().engine, kInOrder), "stream");
  work(stream.get());
}

}  // namespace

OnednnLayer::OnednnLayer(const CnnLayer& problem, int threads) {
  const Threads limit(threads);
  auto chain = std::make_unique<Chain>(problem);
  chain->compile();
  chain_ = std::move(chain);
}
OnednnLayer::~OnednnLayer() = default;

std::size_t OnednnLayer::prepared_bytes() const {
  return chain_->prepared_bytes();
}
void OnednnLayer::prepare(Executor& executor, const std::byte* weights, std::byte* prepared) const {
  with_stream(executor.threads(),
              [&](void* stream) { chain_->prepare(stream, executor.scratch(), weights, prepared); });
}
void OnednnLayer::run(Executor& executor, const std::byte* input, const std::byte* weights, const std::byte* bias,
                      std::byte* output) const {
  with_stream(executor.threads(),
              [&](void* stream) { chain_->run(stream, executor.scratch(), input, weights, bias, output); });
}

backend::Verdict check_onednn_layer(const CnnLayer& problem) {
  if (Verdict usable = onednn_library().check(); !usable) return usable;
  if (onednn_library().major_version() != 2)
    return Verdict::no(sentence(onednn_library().shared().name(), " is oneDNN ", onednn_library().major_version(),
                                ", but cnn_layer calls the C interface of version 2"));
  if (!onednn().complete)
    return Verdict::no(sentence(onednn_library().shared().name(), " lacks a function of oneDNN's C interface"));
  try {
    const Threads limit(1);
    const OnednnLayer layer(problem, 1);
    return Verdict::yes();
  } catch (const Error& error) {
    return Verdict::no(error.what());
  }
}

}  // namespace tessera::cpu_tbb
