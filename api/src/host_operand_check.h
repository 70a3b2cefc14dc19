// The checks that operands in the host's memory pass before a stream reads or writes them.
#pragma once

#include <span>
#include <string_view>

#include <tessera/host_operand.h>

#include "operand_check.h"

namespace tessera::detail {

/// Throws invalid_argument if an operand is missing, or there though the problem does without it, null, of the wrong
/// type or too small, or if a written one overlaps any other. `specs` say what each must be, in the same order; those
/// behind the last operand are not asked.
void check_host_operands(std::string_view operator_name, std::span<const OperandSpec> specs,
                         std::span<const HostMemory> operands);

}  // namespace tessera::detail
