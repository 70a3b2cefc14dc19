// Queues one run of an operator's kernel.
#include "cpu_tbb_kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu_tbb_buffer.h"
#include "cpu_tbb_error.h"
#include "cpu_tbb_queue.h"

namespace tessera::cpu_tbb {

void CpuTbbKernel::launch(backend::Queue& queue, std::span<const backend::Slice> operands,
                          const backend::Slice& workspace) {
  const std::size_t count = operands.size() + (workspace_bytes_ == 0 ? 0 : 1);
  auto addresses = or_no_memory([&] { return std::vector<std::byte*>(count); });
  if (workspace_bytes_ != 0) addresses.back() = address_of(workspace);
  std::ranges::transform(operands, addresses.begin(), [](const backend::Slice& operand) {
    return operand.buffer == nullptr ? nullptr : address_of(operand);
  });
  static_cast<CpuTbbQueue&>(queue).submit(
      [run = run_, addresses = std::move(addresses)](Executor& executor) { (*run)(executor, addresses); });
}

void CpuTbbKernel::prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
                           const backend::Slice& /*workspace*/) {
  static_cast<CpuTbbQueue&>(queue).submit(
      [preparation = preparation_, source = address_of(weights), target = address_of(prepared)](Executor& executor) {
        preparation->prepare(executor, source, target);
      });
}

}  // namespace tessera::cpu_tbb
