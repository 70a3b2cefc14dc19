// The checks that every operator's operands pass before a backend sees them.
#pragma once

#include <tessera/buffer.h>

#include <cstdint>
#include <span>

#include "kernel_core.h"
#include "queue_core.h"

namespace tessera::detail {

enum class Access : std::uint8_t {
  read,
  write,
  none,  ///< the problem does without it: there must be none
};

/// What an operator needs of one operand.
struct OperandSpec {
  const char* name;
  const UntypedView* view;
  DataType type;
  std::uint64_t elements;  ///< from the view's first element to the last that is touched
  Access access;
};

/// Throws invalid_argument if an operand is missing, or there though the problem does without it, of the wrong type,
/// too small, on another device, read-only though written, or if a written one overlaps any other.
void check_operands(const KernelCore& kernel, const QueueCore& queue, std::span<const OperandSpec> operands);

}  // namespace tessera::detail
