// Queues one run of an operator's kernel.
#include "cpu_tbb_kernel.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cpu_tbb_buffer.h"
#include "cpu_tbb_error.h"
#include "cpu_tbb_queue.h"

namespace tessera::cpu_tbb {

namespace {

/// More than the operands of any operator with a workspace: the addresses of so many lie in the command itself.
constexpr std::size_t kMostInPlace = 8;

/// `addresses` has room for `count` of them.
template <class Addresses>
void submit_run(CpuTbbQueue& queue, Addresses addresses, std::size_t count,
                const std::shared_ptr<const CpuTbbKernel::Run>& run, std::span<const backend::Slice> operands,
                const backend::Slice& workspace) {
  if (count > operands.size()) addresses[operands.size()] = address_of(workspace);
  std::ranges::transform(operands, addresses.begin(), [](const backend::Slice& operand) {
    return operand.buffer == nullptr ? nullptr : address_of(operand);
  });
  queue.submit([run, addresses = std::move(addresses), count](Executor& executor) {
    (*run)(executor, OperandAddresses(addresses.data(), count));
  });
}

}  // namespace

void CpuTbbKernel::launch(backend::Queue& queue, std::span<const backend::Slice> operands,
                          const backend::Slice& workspace) {
  const std::size_t count = operands.size() + (workspace_bytes_ == 0 ? 0 : 1);
  auto& own = static_cast<CpuTbbQueue&>(queue);
  if (count <= kMostInPlace)
    return submit_run(own, std::array<std::byte*, kMostInPlace>{}, count, run_, operands, workspace);
  submit_run(own, or_no_memory([&] { return std::vector<std::byte*>(count); }), count, run_, operands, workspace);
}

void CpuTbbKernel::prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
                           const backend::Slice& /*workspace*/) {
  static_cast<CpuTbbQueue&>(queue).submit(
      [preparation = preparation_, source = address_of(weights), target = address_of(prepared)](Executor& executor) {
        preparation->prepare(executor, source, target);
      });
}

}  // namespace tessera::cpu_tbb
