// Prepared weights: whom they fit, and their memory.
#include <tessera/prepared_weights.h>

#include "backend/sentence.h"
#include "prepared_core.h"

namespace tessera {

std::size_t PreparedWeights::size_bytes() const noexcept {
  return core_ == nullptr ? 0 : core_->memory().size_bytes();
}

namespace detail {
namespace {

using backend::sentence;

/// "cnn_layer (winograd) 'layer 1' on cpu:0 with tile = 4 for c=3,..."
std::string full_name(const KernelCore& kernel, const std::string& problem_key) {
  std::string tuning;
  for (const auto& [name, value] : kernel.info().tuning) {
    tuning += sentence(tuning.empty() ? " with " : ", ", name, " = ", value);
  }
  return sentence(*kernel.description(), " on ", kernel.device()->id(), tuning, " for ", problem_key);
}

}  // namespace

void check_prepared(const PreparedCore& prepared, const KernelCore& kernel, const std::string& problem_key) {
  const KernelCore& other = *prepared.kernel();
  if (&other == &kernel) return;
  const KernelInfo& a = other.info();
  const KernelInfo& b = kernel.info();
  const bool is_same_device = other.device() == kernel.device();
  if (is_same_device && a.operator_name == b.operator_name && a.variant == b.variant && a.tuning == b.tuning &&
      prepared.problem_key() == problem_key) {
    return;
  }
  const bool is_reopened = !is_same_device && a.device == b.device;
  throw Error(
      ErrorCode::invalid_argument,
      sentence("operand weights of ", b.operator_name, " was prepared for ", full_name(other, prepared.problem_key()),
               ", but is handed to ", full_name(kernel, problem_key), is_reopened ? ", opened another time" : ""))
      .while_doing("queueing " + *kernel.description());
}

UntypedView allocate_prepared(const KernelCore& kernel, std::size_t size_bytes) {
  auto block = kernel.device()->allocate(size_bytes, "prepared weights of " + *kernel.description());
  return {std::move(block), DataType::uint8, 0, size_bytes, true};
}

}  // namespace detail
}  // namespace tessera
