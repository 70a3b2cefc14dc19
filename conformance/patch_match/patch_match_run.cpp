// A patch_match case on one device.
#include "conformance/patch_match/patch_match_run.h"

#include <string>
#include <utility>

#include "conformance/host_copy.h"

namespace tessera::conformance {

namespace {

template <class T>
std::vector<T> poisoned(std::int64_t count) {
  return std::vector<T>(static_cast<std::size_t>(count), poison<T>());
}

std::int64_t places_of(const PatchMatch& problem) {
  return problem.references().product() * problem.max_patches;
}

}  // namespace

template <class T>
PatchRun<T>::PatchRun(const Device& device, OperatorKernel<PatchMatch> kernel, std::shared_ptr<const PatchData<T>> data,
                      std::size_t misalignment)
    : KernelRun<PatchMatch>(std::move(kernel)),
      data_(std::move(data)),
      volume_(device, "the volume", data_->volume, misalignment),
      counts_(device, "the counts", poisoned<std::int32_t>(this->kernel().problem().references().product()),
              misalignment),
      distances_(device, "the distances", poisoned<PatchDistance<T>>(places_of(this->kernel().problem())),
                 misalignment),
      indices_(device, "the indices", poisoned<std::int64_t>(places_of(this->kernel().problem())), misalignment) {}

template <class T>
PatchRun<T>::PatchRun(const Device& device, const PatchRun& like)
    : KernelRun<PatchMatch>(like.kernel()),
      data_(like.data_),
      volume_(device, like.volume_),
      counts_(device, like.counts_),
      distances_(device, like.distances_),
      indices_(device, like.indices_) {}

template <class T>
void PatchRun<T>::reset(Queue& queue) {
  if (!volume_is_there_) volume_.reset(queue);
  volume_is_there_ = true;
  counts_.reset(queue);
  distances_.reset(queue);
  indices_.reset(queue);
}

template <class T>
void PatchRun<T>::enqueue(Queue& queue) {
  queue.run(
      kernel(),
      {.volume = volume_.view(), .counts = counts_.view(), .distances = distances_.view(), .indices = indices_.view()});
}

template <class T>
Outcome PatchRun<T>::check(Queue& queue) {
  Comparison comparison(kernel().problem().distance_type());
  check_input(volume_, queue, comparison);
  const auto download = [&](const auto& buffer) {
    auto whole = buffer.download(queue);
    std::string damage = buffer.find_damage(whole);
    if (!damage.empty()) comparison.fail(std::move(damage));
    return whole;
  };
  const auto counts = download(counts_);
  const auto distances = download(distances_);
  const auto indices = download(indices_);
  data_->reference->check({.counts = counts_.content_of(counts),
                           .distances = distances_.content_of(distances),
                           .indices = indices_.content_of(indices)},
                          comparison);
  return comparison.outcome();
}

template <class T>
std::vector<std::byte> PatchRun<T>::output_bits(Queue& queue) {
  return joined({bits_of(counts_, queue), bits_of(distances_, queue), bits_of(indices_, queue)});
}

template <class T>
std::unique_ptr<Run> PatchRun<T>::twin(const Device& device) const {
  return std::make_unique<PatchRun>(device, *this);
}

template <class T>
HostCopies PatchRun<T>::host_copies(const Device& device, HostMemory memory) const {
  HostCopies copies;
  add_host_copy(copies, device, volume_, Way::in, memory);
  add_host_copy(copies, device, counts_, Way::out, memory);
  add_host_copy(copies, device, distances_, Way::out, memory);
  add_host_copy(copies, device, indices_, Way::out, memory);
  return copies;
}

template class PatchRun<std::uint8_t>;
template class PatchRun<std::uint16_t>;
template class PatchRun<float>;

}  // namespace tessera::conformance
