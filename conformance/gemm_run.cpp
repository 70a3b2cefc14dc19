// A gemm case on one device.
#include "conformance/gemm_run.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace tessera::conformance {

namespace {

/// The stored matrix as it lies in memory: rows `stride` elements apart, poison in the gaps; none behind the last row.
template <class T>
std::vector<T> with_gaps(std::span<const T> packed, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  if (rows == 0 || columns == 0) return {};
  std::vector<T> spread(static_cast<std::size_t>((rows - 1) * stride + columns), poison<T>());
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(packed.begin() + row * columns, columns, spread.begin() + row * stride);
  }
  return spread;
}

template <class T>
std::vector<T> stored_a(const Gemm& problem, const GemmData<T>& data) {
  const bool transposed = problem.transpose_a;
  return with_gaps<T>(data.a, transposed ? problem.k : problem.m, transposed ? problem.m : problem.k, problem.lda);
}

template <class T>
std::vector<T> stored_b(const Gemm& problem, const GemmData<T>& data) {
  const bool transposed = problem.transpose_b;
  return with_gaps<T>(data.b, transposed ? problem.n : problem.k, transposed ? problem.k : problem.n, problem.ldb);
}

template <class T>
std::vector<T> stored_c(const Gemm& problem, const GemmData<T>& data) {
  if (data.beta != 0) return with_gaps<T>(data.c, problem.m, problem.n, problem.ldc);
  const std::vector<T> poisoned(data.c.size(), poison<T>());
  return with_gaps<T>(poisoned, problem.m, problem.n, problem.ldc);
}

}  // namespace

template <class T>
GemmRun<T>::GemmRun(const Device& device, OperatorKernel<Gemm> kernel, std::shared_ptr<const GemmData<T>> data,
                    std::size_t misalignment)
    : kernel_(std::move(kernel)),
      problem_(with_leading_dimensions(kernel_.problem())),
      data_(std::move(data)),
      a_(device, "A", stored_a(problem_, *data_), misalignment),
      b_(device, "B", stored_b(problem_, *data_), misalignment),
      c_(device, "C", stored_c(problem_, *data_), misalignment) {}

template <class T>
void GemmRun<T>::reset(Queue& queue) {
  if (!inputs_are_there_) {
    a_.reset(queue);
    b_.reset(queue);
    inputs_are_there_ = true;
  }
  c_.reset(queue);
}

template <class T>
void GemmRun<T>::enqueue(Queue& queue) {
  queue.run(kernel_, {.a = a_.view(), .b = b_.view(), .c = c_.view()});
}

template <class T>
Outcome GemmRun<T>::check(Queue& queue) {
  Comparison comparison(problem_.type);
  for (const GuardedBuffer<T>* input : {&a_, &b_}) {
    const std::vector<T> whole = input->download(queue);
    std::string damage = input->find_damage(whole);
    if (damage.empty()) damage = input->find_change(whole, [](std::size_t) { return false; });
    if (!damage.empty()) comparison.fail(std::move(damage));
  }
  const std::vector<T> whole = c_.download(queue);
  std::string damage = c_.find_damage(whole);
  if (damage.empty() && problem_.ldc > problem_.n) {
    const auto stride = static_cast<std::size_t>(problem_.ldc);
    const auto columns = static_cast<std::size_t>(problem_.n);
    damage = c_.find_change(whole, [&](std::size_t index) { return index % stride < columns; });
  }
  if (!damage.empty()) comparison.fail(std::move(damage));
  const std::optional<T> unwritten = data_->beta == 0 ? std::optional<T>(poison<T>()) : std::nullopt;
  data_->reference->check(c_.content_of(whole), problem_.ldc, info().error_factor, unwritten, comparison);
  return comparison.outcome();
}

template <class T>
std::vector<std::byte> GemmRun<T>::output_bits(Queue& queue) {
  const std::vector<T> whole = c_.download(queue);
  std::vector<std::byte> bits(whole.size() * sizeof(T));
  std::memcpy(bits.data(), whole.data(), bits.size());
  return bits;
}

template <class T>
void GemmRun<T>::remember_time(const Device& device, double seconds) {
  tessera::remember_time(kernel_, device, seconds);
}

template class GemmRun<float>;
template class GemmRun<double>;

}  // namespace tessera::conformance
