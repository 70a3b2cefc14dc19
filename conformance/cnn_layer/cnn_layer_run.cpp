// A cnn_layer case on one device.
#include "conformance/cnn_layer/cnn_layer_run.h"

#include <utility>

#include "conformance/host_copy.h"

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
    : KernelRun<CnnLayer>(std::move(kernel)),
      data_(std::move(data)),
      input_(device, "the input", data_->input, misalignment),
      weights_(device, "the weights", data_->weights, misalignment),
      bias_(device, "the bias", data_->bias, misalignment),
      output_(device, "the output", unwritten<T>(this->kernel().problem()), misalignment),
      is_prepared_(is_prepared) {}

template <class T>
void CnnLayerRun<T>::reset(Queue& queue) {
  if (!inputs_are_there_) {
    input_.reset(queue);
    weights_.reset(queue);
    bias_.reset(queue);
  }
  inputs_are_there_ = true;
  make_ready(queue);
  output_.reset(queue);
}

/// Called by reset() and by enqueue(): after the kernel was changed, enqueue() may come without a reset() before it,
/// and the prepared weights of the kernel before are gone.
template <class T>
void CnnLayerRun<T>::make_ready(Queue& queue) {
  if (is_prepared_ && !prepared_) prepared_ = queue.prepare_weights(kernel(), weights_.view());
}

template <class T>
void CnnLayerRun<T>::enqueue(Queue& queue) {
  make_ready(queue);
  const WeightsOperand weights = is_prepared_ ? WeightsOperand(prepared_) : WeightsOperand(weights_.view());
  const ConstOperand bias = kernel().problem().bias ? ConstOperand(bias_.view()) : ConstOperand();
  queue.run(kernel(), {.input = input_.view(), .weights = weights, .bias = bias, .output = output_.view()});
}

template <class T>
Outcome CnnLayerRun<T>::check(Queue& queue) {
  Comparison comparison(kernel().problem().type);
  for (const GuardedBuffer<T>* operand : {&input_, &weights_, &bias_}) check_input(*operand, queue, comparison);
  const std::vector<T> whole = output_.download(queue);
  std::string damage = output_.find_damage(whole);
  if (!damage.empty()) comparison.fail(std::move(damage));
  data_->reference->check(output_.content_of(whole), info().error_factor, poison<T>(), comparison);
  return comparison.outcome();
}

template <class T>
std::vector<std::byte> CnnLayerRun<T>::output_bits(Queue& queue) {
  return bits_of(output_, queue);
}

template <class T>
CnnLayerRun<T>::CnnLayerRun(const Device& device, const CnnLayerRun& like)
    : KernelRun<CnnLayer>(like.kernel()),
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

template <class T>
HostCopies CnnLayerRun<T>::host_copies(const Device& device, HostMemory memory) const {
  HostCopies copies;
  add_host_copy(copies, device, input_, Way::in, memory);
  add_host_copy(copies, device, weights_, Way::in, memory);
  add_host_copy(copies, device, bias_, Way::in, memory);
  add_host_copy(copies, device, output_, Way::out, memory);
  return copies;
}

template class CnnLayerRun<float>;
template class CnnLayerRun<double>;

}  // namespace tessera::conformance
