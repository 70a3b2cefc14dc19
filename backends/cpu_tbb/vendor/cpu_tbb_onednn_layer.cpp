// The chain of a layer, and the streams that it runs on.
#include "vendor/cpu_tbb_onednn_layer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "vendor/cpu_tbb_onednn_steps.h"

namespace tessera::cpu_tbb {

using namespace onednn;

namespace {

using backend::sentence;
using backend::Verdict;

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
    const Functions::Descriptor last = p.pool_size > 1 ? steps_.back().layout(kDestinationLayout) : convolved_;
    is_pooled_ = p.pool_size > 1;
    if (functions().layout_equal(&input_, convolution_.layout(kSourceLayout)) == 0)
      before_.emplace_back(&input_, convolution_.layout(kSourceLayout));
    if (functions().layout_equal(&output_, last) == 0) after_.emplace_back(last, &output_);
    weights_.emplace_back(&raw_weights_, convolution_.layout(kWeightsLayout));
  }
  void compile() {
    convolution_.compile();
    for (std::vector<Step>* list : {&steps_, &before_, &after_, &weights_}) {
      for (Step& step : *list) step.compile();
    }
  }
  [[nodiscard]] std::size_t prepared_bytes() const {
    return functions().layout_size(convolution_.layout(kWeightsLayout));
  }
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
    const Functions::Descriptor source = convolution_.layout(kSourceLayout);
    const Functions::Descriptor last = is_pooled_ ? steps_.front().layout(kDestinationLayout) : convolved_;
    const std::size_t source_bytes = before_.empty() ? 0 : aligned(functions().layout_size(source));
    const std::size_t sums_bytes = is_pooled_ ? aligned(functions().layout_size(convolved_)) : 0;
    const std::size_t last_bytes = after_.empty() ? 0 : aligned(functions().layout_size(last));
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
    expect(functions().convolution(&operation, kInference, kDirectConvolution, &source, &weights,
                                   p.bias ? &bias_ : nullptr, &sums, {p.stride, p.stride}, {p.padding, p.padding},
                                   {p.padding, p.padding}),
           "convolution");
    return {operation, attributes(p.relu), "convolution"};
  }
  [[nodiscard]] Step make_pool(const CnnLayer& p) const {
    const MemoryDescriptor pooled = any_layout({p.batch, p.output_channels, p.output_height(), p.output_width()}, 4);
    OperationDescriptor operation;
    expect(functions().pool(&operation, kInference, kMaxPool, convolved_, &pooled, {p.pool_stride, p.pool_stride},
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
  Functions::Descriptor convolved_ = nullptr;
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
  Handle stream(functions().stream_destroy);
  expect(functions().stream_create(stream.room(), functions().engine, kInOrder), "stream");
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
  if (!functions().complete)
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
