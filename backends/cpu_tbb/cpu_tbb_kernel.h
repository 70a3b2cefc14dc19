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

/// Addresses of the operands, in the order of the operator's Operands struct.
using OperandAddresses = std::span<std::byte* const>;

class CpuTbbKernel final : public backend::Kernel {
 public:
  /// Called once per run, on the queue's worker thread. Runs of one kernel on several queues overlap.
  using Run = std::function<void(Executor& executor, OperandAddresses operands)>;

  explicit CpuTbbKernel(Run run) : run_(std::make_shared<const Run>(std::move(run))) {}
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override;

 private:
  std::shared_ptr<const Run> run_;  // shared with the commands that are queued
};

}  // namespace tessera::cpu_tbb
