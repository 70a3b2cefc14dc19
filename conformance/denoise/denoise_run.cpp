// A denoise case on one device.
#include "conformance/denoise/denoise_run.h"

#include <string>
#include <utility>

#include "conformance/host_copy.h"

namespace tessera::conformance {

template <class T>
DenoiseRun<T>::DenoiseRun(const Device& device, OperatorKernel<Denoise> kernel,
                          std::shared_ptr<const DenoiseData<T>> data, std::size_t misalignment)
    : KernelRun<Denoise>(std::move(kernel)),
      data_(std::move(data)),
      volume_(device, "the volume", data_->volume, misalignment),
      basic_(device, "the basic estimate", data_->basic, misalignment),
      result_(device, "the result", std::vector<T>(data_->volume.size(), poison<T>()), misalignment) {}

template <class T>
DenoiseRun<T>::DenoiseRun(const Device& device, const DenoiseRun& like)
    : KernelRun<Denoise>(like.kernel()),
      data_(like.data_),
      volume_(device, like.volume_),
      basic_(device, like.basic_),
      result_(device, like.result_) {}

template <class T>
void DenoiseRun<T>::reset(Queue& queue) {
  if (!inputs_are_there_) {
    volume_.reset(queue);
    basic_.reset(queue);
  }
  inputs_are_there_ = true;
  result_.reset(queue);
}

template <class T>
void DenoiseRun<T>::enqueue(Queue& queue) {
  const bool has_basic = kernel().problem().stage == DenoiseStage::wiener;
  queue.run(kernel(), {.volume = volume_.view(),
                       .basic = has_basic ? ConstOperand(basic_.view()) : ConstOperand(),
                       .result = result_.view()});
}

template <class T>
Outcome DenoiseRun<T>::check(Queue& queue) {
  Comparison comparison(kernel().problem().type);
  check_input(volume_, queue, comparison);
  check_input(basic_, queue, comparison);
  const std::vector<T> result = result_.download(queue);
  std::string damage = result_.find_damage(result);
  if (!damage.empty()) comparison.fail(std::move(damage));
  data_->reference->check(result_.content_of(result), comparison);
  return comparison.outcome();
}

template <class T>
std::vector<std::byte> DenoiseRun<T>::output_bits(Queue& queue) {
  return bits_of(result_, queue);
}

template <class T>
std::unique_ptr<Run> DenoiseRun<T>::twin(const Device& device) const {
  return std::make_unique<DenoiseRun>(device, *this);
}

template <class T>
HostCopies DenoiseRun<T>::host_copies(const Device& device, HostMemory memory) const {
  HostCopies copies;
  add_host_copy(copies, device, volume_, Way::in, memory);
  add_host_copy(copies, device, basic_, Way::in, memory);
  add_host_copy(copies, device, result_, Way::out, memory);
  return copies;
}

template class DenoiseRun<std::uint8_t>;
template class DenoiseRun<std::uint16_t>;
template class DenoiseRun<float>;

}  // namespace tessera::conformance
