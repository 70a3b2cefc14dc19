// A gemm case on one device.
#include "conformance/gemm/gemm_run.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "conformance/gemm/gemm_case.h"
#include "conformance/host_copy.h"

namespace tessera::conformance {

namespace {

/// The stored matrices of an operand in memory.
struct Layout {
  std::int64_t count;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;
  std::int64_t stride;

  [[nodiscard]] std::size_t size() const {
    if (count == 0 || rows == 0 || columns == 0) return 0;
    return static_cast<std::size_t>((count - 1) * stride + (rows - 1) * leading + columns);
  }
  /// Calls `visit(first element in memory, first element of the packed matrices)` for each row.
  template <class Visit>
  void for_each_row(Visit visit) const {
    if (size() == 0) return;
    for (std::int64_t row = 0; row < count * rows; ++row) {
      visit(row / rows * stride + row % rows * leading, row * columns);
    }
  }
};

Layout layout_of_a(const Gemm& p) {
  const std::int64_t count = gemm_matrix_count(p.batch, p.stride_a);
  return p.transpose_a ? Layout{count, p.k, p.m, p.lda, p.stride_a} : Layout{count, p.m, p.k, p.lda, p.stride_a};
}
Layout layout_of_b(const Gemm& p) {
  const std::int64_t count = gemm_matrix_count(p.batch, p.stride_b);
  return p.transpose_b ? Layout{count, p.n, p.k, p.ldb, p.stride_b} : Layout{count, p.k, p.n, p.ldb, p.stride_b};
}
Layout layout_of_c(const Gemm& p) {
  return {p.batch, p.m, p.n, p.ldc, p.stride_c};
}

/// The matrices as they lie in memory, poison in the gaps; none behind the last row.
template <class T>
std::vector<T> with_gaps(std::span<const T> packed, const Layout& layout) {
  std::vector<T> spread(layout.size(), poison<T>());
  layout.for_each_row([&](std::int64_t in_memory, std::int64_t in_packed) {
    std::copy_n(packed.begin() + in_packed, layout.columns, spread.begin() + in_memory);
  });
  return spread;
}

template <class T>
std::vector<T> stored_c(const Gemm& problem, const GemmData<T>& data) {
  const Layout layout = layout_of_c(problem);
  return data.beta != 0 ? with_gaps<T>(data.c, layout) : std::vector<T>(layout.size(), poison<T>());
}

/// Empty where every element belongs to a matrix.
std::vector<bool> elements_of_c(const Gemm& problem) {
  const Layout layout = layout_of_c(problem);
  if (layout.size() == static_cast<std::size_t>(layout.count * layout.rows * layout.columns)) return {};
  std::vector<bool> elements(layout.size(), false);
  layout.for_each_row(
      [&](std::int64_t in_memory, std::int64_t) { std::fill_n(elements.begin() + in_memory, layout.columns, true); });
  return elements;
}

}  // namespace

template <class T>
GemmRun<T>::GemmRun(const Device& device, OperatorKernel<Gemm> kernel, std::shared_ptr<const GemmData<T>> data,
                    std::size_t misalignment)
    : KernelRun<Gemm>(std::move(kernel)),
      problem_(with_layout(this->kernel().problem())),
      data_(std::move(data)),
      a_(device, "A", with_gaps<T>(data_->a, layout_of_a(problem_)), misalignment),
      b_(device, "B", with_gaps<T>(data_->b, layout_of_b(problem_)), misalignment),
      c_(device, "C", stored_c(problem_, *data_), misalignment),
      may_change_(elements_of_c(problem_)) {}

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
  queue.run(kernel(), {.a = a_.view(), .b = b_.view(), .c = c_.view()});
}

template <class T>
Outcome GemmRun<T>::check(Queue& queue) {
  Comparison comparison(problem_.type);
  for (const GuardedBuffer<T>* input : {&a_, &b_}) check_input(*input, queue, comparison);
  const std::vector<T> whole = c_.download(queue);
  std::string damage = c_.find_damage(whole);
  if (damage.empty() && !may_change_.empty()) {
    damage = c_.find_change(whole, [&](std::size_t index) { return may_change_[index]; });
  }
  if (!damage.empty()) comparison.fail(std::move(damage));
  const std::optional<T> unwritten = data_->beta == 0 ? std::optional<T>(poison<T>()) : std::nullopt;
  const std::span<const T> content = c_.content_of(whole);
  for (std::size_t i = 0; i < data_->references->size() && !content.empty(); ++i) {
    const std::string product = data_->references->size() == 1 ? "" : "product " + std::to_string(i) + ": ";
    (*data_->references)[i]->check(content.subspan(i * static_cast<std::size_t>(problem_.stride_c)), problem_.ldc,
                                   info().error_factor, unwritten, product, comparison);
  }
  return comparison.outcome();
}

template <class T>
std::vector<std::byte> GemmRun<T>::output_bits(Queue& queue) {
  return bits_of(c_, queue);
}

template <class T>
GemmRun<T>::GemmRun(const Device& device, const GemmRun& like)
    : KernelRun<Gemm>(like.kernel()),
      problem_(like.problem_),
      data_(like.data_),
      a_(device, like.a_),
      b_(device, like.b_),
      c_(device, like.c_),
      may_change_(like.may_change_) {}

template <class T>
std::unique_ptr<Run> GemmRun<T>::twin(const Device& device) const {
  return std::make_unique<GemmRun>(device, *this);
}

template <class T>
HostCopies GemmRun<T>::host_copies(const Device& device, HostMemory memory) const {
  HostCopies copies;
  add_host_copy(copies, device, a_, Way::in, memory);
  add_host_copy(copies, device, b_, Way::in, memory);
  add_host_copy(copies, device, c_, data_->beta != 0 ? Way::both : Way::out, memory);
  return copies;
}

template class GemmRun<float>;
template class GemmRun<double>;

}  // namespace tessera::conformance
