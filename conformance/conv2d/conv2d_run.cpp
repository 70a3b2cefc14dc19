// A conv2d case on one device.
#include "conformance/conv2d/conv2d_run.h"

#include <utility>

#include "conformance/host_copy.h"

namespace tessera::conformance {

namespace {

template <class Output>
std::vector<Output> unwritten(const Conv2d& problem) {
  const auto size = static_cast<std::size_t>(problem.batch * problem.output_height() * problem.output_width());
  return std::vector<Output>(size, poison<Output>());
}

}  // namespace

template <class T>
Conv2dRun<T>::Conv2dRun(const Device& device, OperatorKernel<Conv2d> kernel, std::shared_ptr<const Conv2dData<T>> data,
                        std::size_t misalignment)
    : KernelRun<Conv2d>(std::move(kernel)),
      data_(std::move(data)),
      images_(device, "the image", data_->images, misalignment),
      outputs_(device, "the output", unwritten<Output>(this->kernel().problem()), misalignment) {}

template <class T>
void Conv2dRun<T>::reset(Queue& queue) {
  if (!images_are_there_) images_.reset(queue);
  images_are_there_ = true;
  outputs_.reset(queue);
}

template <class T>
void Conv2dRun<T>::enqueue(Queue& queue) {
  queue.run(kernel(), {.image = images_.view(), .output = outputs_.view()});
}

template <class T>
Outcome Conv2dRun<T>::check(Queue& queue) {
  Comparison comparison(kernel().problem().output_type());
  check_input(images_, queue, comparison);
  const std::vector<Output> whole = outputs_.download(queue);
  std::string damage = outputs_.find_damage(whole);
  if (!damage.empty()) comparison.fail(std::move(damage));
  data_->reference->check(outputs_.content_of(whole), info().error_factor, poison<Output>(), comparison);
  return comparison.outcome();
}

template <class T>
std::vector<std::byte> Conv2dRun<T>::output_bits(Queue& queue) {
  return bits_of(outputs_, queue);
}

template <class T>
Conv2dRun<T>::Conv2dRun(const Device& device, const Conv2dRun& like)
    : KernelRun<Conv2d>(like.kernel()),
      data_(like.data_),
      images_(device, like.images_),
      outputs_(device, like.outputs_) {}

template <class T>
std::unique_ptr<Run> Conv2dRun<T>::twin(const Device& device) const {
  return std::make_unique<Conv2dRun>(device, *this);
}

template <class T>
HostCopies Conv2dRun<T>::host_copies(const Device& device, HostMemory memory) const {
  HostCopies copies;
  add_host_copy(copies, device, images_, Way::in, memory);
  add_host_copy(copies, device, outputs_, Way::out, memory);
  return copies;
}

template class Conv2dRun<std::uint8_t>;
template class Conv2dRun<std::int16_t>;
template class Conv2dRun<std::int32_t>;
template class Conv2dRun<float>;

}  // namespace tessera::conformance
