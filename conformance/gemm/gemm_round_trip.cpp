// A gemm case whose matrices lie in the host's memory.
#include "conformance/gemm/gemm_round_trip.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tessera::conformance {

namespace {

/// One operand on both sides.
template <class T>
class HostOperand {
 public:
  HostOperand(const Device& device, const std::vector<T>& content, HostMemory memory)
      : buffer_(device.allocate<T>(content.size())) {
    if (memory == HostMemory::pinned) {
      pinned_ = device.allocate_pinned<T>(content.size());
      std::copy(content.begin(), content.end(), pinned_.begin());
    } else {
      ordinary_ = content;
    }
  }

  void upload(Queue& queue) const {
    if (is_pinned()) return queue.upload(buffer_, pinned_);
    queue.upload(buffer_, std::span<const T>(ordinary_));
  }
  void download(Queue& queue) {
    if (is_pinned()) return queue.download(buffer_, pinned_);
    queue.download(buffer_, std::span<T>(ordinary_));
  }
  [[nodiscard]] std::span<T> host() { return is_pinned() ? pinned_.span() : std::span<T>(ordinary_); }
  [[nodiscard]] const Buffer<T>& buffer() const { return buffer_; }

 private:
  [[nodiscard]] bool is_pinned() const { return pinned_.size() != 0; }

  std::vector<T> ordinary_;
  PinnedBuffer<T> pinned_;
  Buffer<T> buffer_;
};

template <class T>
class GemmRoundTrip final : public RoundTrip {
 public:
  GemmRoundTrip(const Device& device, OperatorKernel<Gemm> kernel, std::shared_ptr<const GemmData<T>> data,
                HostMemory memory)
      : kernel_(std::move(kernel)),
        problem_(with_layout(kernel_.problem())),
        data_(std::move(data)),
        a_(device, data_->a, memory),
        b_(device, data_->b, memory),
        c_(device, data_->c, memory) {}

  const KernelInfo& info() const override { return kernel_.info(); }
  void reset() override {
    const std::span<T> c = c_.host();
    if (reads_c()) {
      std::copy(data_->c.begin(), data_->c.end(), c.begin());
    } else {
      std::fill(c.begin(), c.end(), poison<T>());
    }
  }
  void upload(Queue& queue) override {
    a_.upload(queue);
    b_.upload(queue);
    if (reads_c()) c_.upload(queue);
  }
  void enqueue(Queue& queue) override { queue.run(kernel_, {.a = a_.buffer(), .b = b_.buffer(), .c = c_.buffer()}); }
  void download(Queue& queue) override { c_.download(queue); }
  std::size_t upload_bytes() const override {
    return a_.buffer().size_bytes() + b_.buffer().size_bytes() + (reads_c() ? c_.buffer().size_bytes() : 0);
  }
  std::size_t download_bytes() const override { return c_.buffer().size_bytes(); }
  Outcome check() override {
    Comparison comparison(problem_.type);
    const std::optional<T> unwritten = reads_c() ? std::nullopt : std::optional<T>(poison<T>());
    const std::span<const T> c = c_.host();
    for (std::size_t i = 0; i < data_->references->size() && !c.empty(); ++i) {
      const std::string product = data_->references->size() == 1 ? "" : "product " + std::to_string(i) + ": ";
      (*data_->references)[i]->check(c.subspan(i * static_cast<std::size_t>(problem_.stride_c)), problem_.ldc,
                                     info().error_factor, unwritten, product, comparison);
    }
    return comparison.outcome();
  }

 private:
  [[nodiscard]] bool reads_c() const { return data_->beta != 0; }

  OperatorKernel<Gemm> kernel_;
  Gemm problem_;  // with leading dimensions
  std::shared_ptr<const GemmData<T>> data_;
  HostOperand<T> a_;
  HostOperand<T> b_;
  HostOperand<T> c_;
};

}  // namespace

template <class T>
std::unique_ptr<RoundTrip> make_gemm_round_trip(const Device& device, OperatorKernel<Gemm> kernel,
                                                std::shared_ptr<const GemmData<T>> data, HostMemory memory) {
  return std::make_unique<GemmRoundTrip<T>>(device, std::move(kernel), std::move(data), memory);
}

template std::unique_ptr<RoundTrip> make_gemm_round_trip(const Device&, OperatorKernel<Gemm>,
                                                         std::shared_ptr<const GemmData<float>>, HostMemory);
template std::unique_ptr<RoundTrip> make_gemm_round_trip(const Device&, OperatorKernel<Gemm>,
                                                         std::shared_ptr<const GemmData<double>>, HostMemory);

}  // namespace tessera::conformance
