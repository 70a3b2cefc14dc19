// A kernel_regression case on one device.
#include "conformance/kernel_regression/kernel_regression_run.h"

#include <string>
#include <utility>

#include "conformance/host_copy.h"

namespace tessera::conformance {

namespace {

template <class T>
std::vector<T> unwritten(std::int64_t rows, std::int64_t columns) {
  return std::vector<T>(static_cast<std::size_t>(rows * columns), poison<T>());
}

/// An operand that is not wanted stays empty.
template <class T>
Operand wanted(bool is_wanted, const GuardedBuffer<T>& buffer) {
  return is_wanted ? Operand(buffer.view()) : Operand();
}

}  // namespace

template <class T>
RegressionRun<T>::RegressionRun(const Device& device, OperatorKernel<KernelRegression> kernel,
                                std::shared_ptr<const RegressionData<T>> data, std::size_t misalignment,
                                bool is_prepared)
    : KernelRun<KernelRegression>(std::move(kernel)),
      data_(std::move(data)),
      queries_(device, "the queries", data_->queries, misalignment),
      training_(device, "the training set", data_->training, misalignment),
      targets_(device, "the targets", data_->targets, misalignment),
      values_(device, "the values",
              unwritten<Result>(this->kernel().problem().queries, this->kernel().problem().outputs), misalignment),
      votes_(device, "the votes", unwritten<Result>(this->kernel().problem().queries, this->kernel().problem().classes),
             misalignment),
      nearest_row_(device, "the nearest rows",
                   unwritten<std::int64_t>(this->kernel().problem().queries, this->kernel().problem().nearest ? 1 : 0),
                   misalignment),
      nearest_squared_(
          device, "the nearest distances",
          unwritten<RegressionSquared<T>>(this->kernel().problem().queries, this->kernel().problem().nearest ? 1 : 0),
          misalignment),
      neighbours_(device, "the neighbours",
                  unwritten<Result>(this->kernel().problem().queries, this->kernel().problem().neighbours ? 1 : 0),
                  misalignment),
      is_prepared_(is_prepared) {}

template <class T>
RegressionRun<T>::RegressionRun(const Device& device, const RegressionRun& like)
    : KernelRun<KernelRegression>(like.kernel()),
      data_(like.data_),
      queries_(device, like.queries_),
      training_(device, like.training_),
      targets_(device, like.targets_),
      values_(device, like.values_),
      votes_(device, like.votes_),
      nearest_row_(device, like.nearest_row_),
      nearest_squared_(device, like.nearest_squared_),
      neighbours_(device, like.neighbours_),
      is_prepared_(like.is_prepared_) {}

template <class T>
void RegressionRun<T>::reset(Queue& queue) {
  if (!inputs_are_there_) {
    queries_.reset(queue);
    training_.reset(queue);
    targets_.reset(queue);
  }
  inputs_are_there_ = true;
  make_ready(queue);
  values_.reset(queue);
  votes_.reset(queue);
  nearest_row_.reset(queue);
  nearest_squared_.reset(queue);
  neighbours_.reset(queue);
}

/// Called by reset() and by enqueue(): after the kernel was changed, enqueue() may come without a reset() before it,
/// and the prepared training set of the kernel before is gone.
template <class T>
void RegressionRun<T>::make_ready(Queue& queue) {
  if (is_prepared_ && !prepared_) prepared_ = queue.prepare_weights(kernel(), training_.view());
}

template <class T>
void RegressionRun<T>::enqueue(Queue& queue) {
  make_ready(queue);
  const KernelRegression& p = kernel().problem();
  queue.run(kernel(), {.queries = queries_.view(),
                       .training = is_prepared_ ? WeightsOperand(prepared_) : WeightsOperand(training_.view()),
                       .targets = targets_.view(),
                       .values = values_.view(),
                       .votes = wanted(p.classes > 0, votes_),
                       .nearest_row = wanted(p.nearest, nearest_row_),
                       .nearest_squared = wanted(p.nearest, nearest_squared_),
                       .neighbours = wanted(p.neighbours, neighbours_)});
}

template <class T>
Outcome RegressionRun<T>::check(Queue& queue) {
  Comparison comparison(kernel().problem().result_type());
  check_input(queries_, queue, comparison);
  check_input(training_, queue, comparison);
  check_input(targets_, queue, comparison);
  const auto download = [&](const auto& buffer) {
    auto whole = buffer.download(queue);
    std::string damage = buffer.find_damage(whole);
    if (!damage.empty()) comparison.fail(std::move(damage));
    return whole;
  };
  const auto values = download(values_);
  const auto votes = download(votes_);
  const auto nearest_row = download(nearest_row_);
  const auto nearest_squared = download(nearest_squared_);
  const auto neighbours = download(neighbours_);
  data_->reference->check({.values = values_.content_of(values),
                           .votes = votes_.content_of(votes),
                           .nearest_row = nearest_row_.content_of(nearest_row),
                           .nearest_squared = nearest_squared_.content_of(nearest_squared),
                           .neighbours = neighbours_.content_of(neighbours)},
                          info().error_factor, comparison);
  return comparison.outcome();
}

template <class T>
std::vector<std::byte> RegressionRun<T>::output_bits(Queue& queue) {
  return joined({bits_of(values_, queue), bits_of(votes_, queue), bits_of(nearest_row_, queue),
                 bits_of(nearest_squared_, queue), bits_of(neighbours_, queue)});
}

template <class T>
std::unique_ptr<Run> RegressionRun<T>::twin(const Device& device) const {
  return std::make_unique<RegressionRun>(device, *this);
}

template <class T>
HostCopies RegressionRun<T>::host_copies(const Device& device, HostMemory memory) const {
  HostCopies copies;
  add_host_copy(copies, device, queries_, Way::in, memory);
  add_host_copy(copies, device, training_, Way::in, memory);
  add_host_copy(copies, device, targets_, Way::in, memory);
  add_host_copy(copies, device, values_, Way::out, memory);
  add_host_copy(copies, device, votes_, Way::out, memory);
  add_host_copy(copies, device, nearest_row_, Way::out, memory);
  add_host_copy(copies, device, nearest_squared_, Way::out, memory);
  add_host_copy(copies, device, neighbours_, Way::out, memory);
  return copies;
}

template class RegressionRun<float>;
template class RegressionRun<double>;
template class RegressionRun<std::uint8_t>;

}  // namespace tessera::conformance
