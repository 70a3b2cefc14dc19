// A cnn_layer case on one device.
#include "conformance/cnn_layer_run.h"

#include <cstring>
#include <utility>

namespace tessera::conformance {

namespace {

template <class T>
std::vector<T> unwritten(const CnnLayer& p) {
  const auto size = static_cast<std::size_t>(p.batch * p.output_channels * p.output_height() * p.output_width());
  return std::vector<T>(size, poison<T>());
}

}  // namespace

template <class T>
CnnLayerRun<T>::CnnLayerRun(const Device& device, OperatorKernel<CnnLayer> kernel,
                            std::shared_ptr<const CnnLayerData<T>> data, std::size_t misalignment, bool is_prepared)
    : kernel_(std::move(kernel)),
      data_(std::move(data)),
      input_(device, "the input", data_->input, misalignment),
      weights_(device, "the weights", data_->weights, misalignment),
      bias_(device, "the bias", data_->bias, misalignment),
      output_(device, "the output", unwritten<T>(kernel_.problem()), misalignment),
      is_prepared_(is_prepared) {}

template <class T>
void CnnLayerRun<T>::reset(Queue& queue) {
  if (!inputs_are_there_) {
    input_.reset(queue);
    weights_.reset(queue);
    bias_.reset(queue);
  }
  inputs_are_there_ = true;
  prepare(queue);
  output_.reset(queue);
}

/// Not in reset() alone: another kernel may be run without one, and prepared weights are of the kernel before it.
template <class T>
void CnnLayerRun<T>::prepare(Queue& queue) {
  if (is_prepared_ && !prepared_) prepared_ = queue.prepare_weights(kernel_, weights_.view());
}

template <class T>
void CnnLayerRun<T>::enqueue(Queue& queue) {
  prepare(queue);
  const WeightsOperand weights = is_prepared_ ? WeightsOperand(prepared_) : WeightsOperand(weights_.view());
  const ConstOperand bias = kernel_.problem().bias ? ConstOperand(bias_.view()) : ConstOperand();
  queue.run(kernel_, {.input = input_.view(), .weights = weights, .bias = bias, .output = output_.view()});
}

template <class T>
Outcome CnnLayerRun<T>::check(Queue& queue) {
  Comparison comparison(kernel_.problem().type);
  for (const GuardedBuffer<T>* operand : {&input_, &weights_, &bias_}) {
    const std::vector<T> whole = operand->download(queue);
    std::string damage = operand->find_damage(whole);
    if (damage.empty()) damage = operand->find_change(whole, [](std::size_t) { return false; });
    if (!damage.empty()) comparison.fail(std::move(damage));
  }
  const std::vector<T> whole = output_.download(queue);
  std::string damage = output_.find_damage(whole);
  if (!damage.empty()) comparison.fail(std::move(damage));
  data_->reference->check(output_.content_of(whole), info().error_factor, poison<T>(), comparison);
  return comparison.outcome();
}

template <class T>
std::vector<std::byte> CnnLayerRun<T>::output_bits(Queue& queue) {
  const std::vector<T> whole = output_.download(queue);
  std::vector<std::byte> bits(whole.size() * sizeof(T));
  std::memcpy(bits.data(), whole.data(), bits.size());
  return bits;
}

template <class T>
void CnnLayerRun<T>::remember_time(const Device& device, double seconds) {
  tessera::remember_time(kernel_, device, seconds);
}

template <class T>
void CnnLayerRun<T>::change_kernel(const Device& device, const KernelOptions& options) {
  kernel_ = device.kernel(kernel_.problem(), options);
  prepared_ = {};
}

template <class T>
void CnnLayerRun<T>::share_kernel(const Run& other) {
  kernel_ = dynamic_cast<const CnnLayerRun&>(other).kernel_;
  prepared_ = {};
}

template <class T>
CnnLayerRun<T>::CnnLayerRun(const Device& device, const CnnLayerRun& like)
    : kernel_(like.kernel_),
      data_(like.data_),
      input_(device, like.input_),
      weights_(device, like.weights_),
      bias_(device, like.bias_),
      output_(device, like.output_),
      is_prepared_(like.is_prepared_) {}

template <class T>
std::unique_ptr<Run> CnnLayerRun<T>::twin(const Device& device) const {
  return std::make_unique<CnnLayerRun>(device, *this);
}

template class CnnLayerRun<float>;
template class CnnLayerRun<double>;

}  // namespace tessera::conformance
