// A case whose operands lie in the host's memory, made of a run on the device and its operands' host copies.
#include <utility>

#include "conformance/host_copy.h"
#include "conformance/problem_set.h"

namespace tessera::conformance {

namespace {

class RunRoundTrip final : public RoundTrip {
 public:
  RunRoundTrip(std::unique_ptr<Run> run, HostCopies copies) : run_(std::move(run)), copies_(std::move(copies)) {}

  const KernelInfo& info() const override { return run_->info(); }
  void reset(Queue& queue) override {
    run_->reset(queue);
    for (const auto& copy : copies_) copy->reset(queue);
  }
  void upload(Queue& queue) override {
    for (const auto& copy : copies_) {
      if (copy->way() != Way::out) copy->upload(queue);
    }
  }
  void enqueue(Queue& queue) override { run_->enqueue(queue); }
  void download(Queue& queue) override {
    for (const auto& copy : copies_) {
      if (copy->way() != Way::in) copy->download(queue);
    }
  }
  std::size_t upload_bytes() const override { return bytes_but_for(Way::out); }
  std::size_t download_bytes() const override { return bytes_but_for(Way::in); }
  Outcome check(Queue& queue) override {
    Outcome outcome = run_->check(queue);
    for (const auto& copy : copies_) {
      if (!outcome.passed || copy->way() == Way::in) continue;
      outcome.failure = copy->find_difference(queue);
      outcome.passed = outcome.failure.empty();
    }
    return outcome;
  }

 private:
  [[nodiscard]] std::size_t bytes_but_for(Way way) const {
    std::size_t bytes = 0;
    for (const auto& copy : copies_) bytes += copy->way() == way ? 0 : copy->size_bytes();
    return bytes;
  }

  std::unique_ptr<Run> run_;
  HostCopies copies_;  // go before the run, whose buffers they look at
};

}  // namespace

Run::~Run() = default;

HostCopies Run::host_copies(const Device& device, HostMemory memory) const {
  static_cast<void>(device), static_cast<void>(memory);
  return {};
}

std::unique_ptr<RoundTrip> Case::round_trip(const Device& device, const KernelOptions& options,
                                            HostMemory memory) const {
  std::unique_ptr<Run> run = prepare(device, options);
  HostCopies copies = run->host_copies(device, memory);
  if (copies.empty()) return nullptr;
  return std::make_unique<RunRoundTrip>(std::move(run), std::move(copies));
}

}  // namespace tessera::conformance
