// What a volume must give, and a nonlocal_means case on one device.
#include "conformance/nonlocal_means/nonlocal_means_run.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "conformance/inputs.h"
#include "conformance/nonlocal_means/nonlocal_means_case.h"

#include "conformance/host_copy.h"

namespace tessera::conformance {

namespace {

/// Operations that the oracle may take: some tenths of a second on one core.
constexpr double kMostOracleFlops = 5e7;
constexpr std::uint64_t kSampleSeed = 77;

bool are_same_bits(const void* a, const void* b, std::size_t size_bytes) {
  return std::memcmp(a, b, size_bytes) == 0;
}

}  // namespace

template <class T>
MeansReference<T>::MeansReference(const NonlocalMeans& problem, std::vector<T> volume) : volume_(std::move(volume)) {
  const NonlocalMeans filled = with_usual_parameters(problem);
  const MeansOracle<T> oracle(filled, volume_);
  const auto add = [&](std::size_t index) {
    voxels_.push_back({index, oracle.voxel(static_cast<std::int64_t>(index))});
  };
  const double share = kMostOracleFlops / means_work(filled).flops;
  if (share >= 1 || problem.sigma == 0) {
    for (std::size_t i = 0; i < volume_.size(); ++i) add(i);
    return;
  }
  add(0);
  add(volume_.size() - 1);
  const auto samples = static_cast<std::uint64_t>(share * static_cast<double>(volume_.size()));
  for (std::uint64_t i = 0; i < samples; ++i) add(random_below(volume_.size(), kSampleSeed, i));
}

template <class T>
void MeansReference<T>::check(std::span<const T> result, Comparison& comparison) const {
  for (const Voxel& voxel : voxels_) {
    const T found = result[voxel.index];
    if constexpr (std::is_same_v<T, float>) {
      if (std::isnan(voxel.expected)) {  // returned as it is
        if (!are_same_bits(&found, &voxel.expected, sizeof found))
          comparison.fail("voxel number " + std::to_string(voxel.index) + " was a NaN and is another");
        continue;
      }
    }
    const Expected exactly{{static_cast<double>(voxel.expected), 0}, 0};
    if (!comparison.accepts(static_cast<double>(found), exactly))
      comparison.fail("voxel number " + std::to_string(voxel.index) + ": " +
                      describe_difference(static_cast<double>(found), exactly));
  }
  if constexpr (std::is_same_v<T, float>) {
    const float unwritten = poison<float>();
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (are_same_bits(&result[i], &unwritten, sizeof unwritten))
        return comparison.fail("voxel number " + std::to_string(i) + " is not written");
    }
  }
}

template <class T>
MeansRun<T>::MeansRun(const Device& device, OperatorKernel<NonlocalMeans> kernel,
                      std::shared_ptr<const MeansReference<T>> reference, std::size_t misalignment)
    : KernelRun<NonlocalMeans>(std::move(kernel)),
      reference_(std::move(reference)),
      volume_(device, "the volume", reference_->volume(), misalignment),
      result_(device, "the result", std::vector<T>(reference_->volume().size(), poison<T>()), misalignment) {}

template <class T>
MeansRun<T>::MeansRun(const Device& device, const MeansRun& like)
    : KernelRun<NonlocalMeans>(like.kernel()),
      reference_(like.reference_),
      volume_(device, like.volume_),
      result_(device, like.result_) {}

template <class T>
void MeansRun<T>::reset(Queue& queue) {
  if (!is_volume_there_) volume_.reset(queue);
  is_volume_there_ = true;
  result_.reset(queue);
}

template <class T>
void MeansRun<T>::enqueue(Queue& queue) {
  queue.run(kernel(), {.volume = volume_.view(), .result = result_.view()});
}

template <class T>
Outcome MeansRun<T>::check(Queue& queue) {
  Comparison comparison(kernel().problem().type);
  check_input(volume_, queue, comparison);
  const std::vector<T> result = result_.download(queue);
  std::string damage = result_.find_damage(result);
  if (!damage.empty()) comparison.fail(std::move(damage));
  reference_->check(result_.content_of(result), comparison);
  return comparison.outcome();
}

template <class T>
std::vector<std::byte> MeansRun<T>::output_bits(Queue& queue) {
  return bits_of(result_, queue);
}

template <class T>
std::unique_ptr<Run> MeansRun<T>::twin(const Device& device) const {
  return std::make_unique<MeansRun>(device, *this);
}

template <class T>
HostCopies MeansRun<T>::host_copies(const Device& device, HostMemory memory) const {
  HostCopies copies;
  add_host_copy(copies, device, volume_, Way::in, memory);
  add_host_copy(copies, device, result_, Way::out, memory);
  return copies;
}

template class MeansReference<std::uint8_t>;
template class MeansReference<std::uint16_t>;
template class MeansReference<float>;
template class MeansRun<std::uint8_t>;
template class MeansRun<std::uint16_t>;
template class MeansRun<float>;

}  // namespace tessera::conformance
