// A gemm case on one device: operands between guard zones, one kernel, and the check of what it left behind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conformance/gemm/gemm_reference.h"
#include "conformance/guarded_buffer.h"
#include "conformance/kernel_run.h"

namespace tessera::conformance {

/// What each product of a case must give.
template <class T>
using GemmReferences = std::vector<std::unique_ptr<const GemmReference<T>>>;

/// The inputs of a case, stored matrices with packed rows, one behind the other, and what each product must give.
template <class T>
struct GemmData {
  T alpha = 1;
  T beta = 0;
  std::vector<T> a;
  std::vector<T> b;
  std::vector<T> c;
  Draw draw = Draw::chosen;
  std::shared_ptr<const GemmReferences<T>> references;
};

template <class T>
class GemmRun final : public KernelRun<Gemm> {
 public:
  GemmRun(const Device& device, OperatorKernel<Gemm> kernel, std::shared_ptr<const GemmData<T>> data,
          std::size_t misalignment);
  /// The same on other memory.
  GemmRun(const Device& device, const GemmRun& like);

  void reset(Queue& queue) override;
  void enqueue(Queue& queue) override;
  [[nodiscard]] Outcome check(Queue& queue) override;
  [[nodiscard]] std::vector<std::byte> output_bits(Queue& queue) override;
  [[nodiscard]] std::unique_ptr<Run> twin(const Device& device) const override;
  [[nodiscard]] HostCopies host_copies(const Device& device, HostMemory memory) const override;

 private:
  Gemm problem_;  // with leading dimensions
  std::shared_ptr<const GemmData<T>> data_;
  GuardedBuffer<T> a_;
  GuardedBuffer<T> b_;
  GuardedBuffer<T> c_;
  std::vector<bool> may_change_;  // the elements of C's memory that belong to a matrix; empty: all of them
  bool inputs_are_there_ = false;
};

extern template class GemmRun<float>;
extern template class GemmRun<double>;

}  // namespace tessera::conformance
