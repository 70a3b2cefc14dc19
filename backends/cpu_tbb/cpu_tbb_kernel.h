// A variant bound to a problem: a function of the executor and the operands' addresses. Every operator's variants make
// these, so that a kernel file holds nothing but its loops.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "backend/backend.h"
#include "cpu_tbb_executor.h"

namespace tessera::cpu_tbb {

/// Addresses of the operands, in the order of the operator's Operands struct; behind them that of the workspace, if the
/// kernel asked for one.
using OperandAddresses = std::span<std::byte* const>;

class CpuTbbKernel final : public backend::Kernel {
 public:
  /// Called once per run, on the queue's worker thread. Runs of one kernel on several queues overlap.
  using Run = std::function<void(Executor& executor, OperandAddresses operands)>;

  /// Brings raw weights into the form that Run finds in their place.
  struct Preparation {
    std::size_t size_bytes = 0;
    std::function<void(Executor& executor, const std::byte* weights, std::byte* prepared)> prepare;
  };

  explicit CpuTbbKernel(Run run, std::size_t workspace_bytes = 0) : CpuTbbKernel(std::move(run), {}, workspace_bytes) {}
  CpuTbbKernel(Run run, Preparation preparation, std::size_t workspace_bytes = 0)
      : run_(std::make_shared<const Run>(std::move(run))),
        preparation_(std::make_shared<const Preparation>(std::move(preparation))),
        workspace_bytes_(workspace_bytes) {}
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_bytes_; }
  [[nodiscard]] std::size_t prepared_bytes() const override { return preparation_->size_bytes; }
  void prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
               const backend::Slice& workspace) override;
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override;

 private:
  std::shared_ptr<const Run> run_;  // shared with the commands that are queued, and so is the next
  std::shared_ptr<const Preparation> preparation_;
  std::size_t workspace_bytes_;
};

}  // namespace tessera::cpu_tbb
