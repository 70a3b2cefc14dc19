// Operands in the host's memory, checked in the words that those on a device are.
#include "host_operand_check.h"

#include <cstdint>

#include "backend/sentence.h"
#include "refuse.h"

namespace tessera::detail {
namespace {

using backend::sentence;

void check_host_operand(std::string_view op, const OperandSpec& spec, const HostMemory& memory) {
  if (spec.access == Access::none) {
    if (!memory.is_there) return;
    refuse(sentence("operand ", spec.name, " of ", op, " has ", memory.count, " elements, but the problem has no ",
                    spec.name));
  }
  if (!memory.is_there) refuse(sentence("operand ", spec.name, " of ", op, " is missing"));
  if (memory.type != spec.type) {
    refuse(sentence("operand ", spec.name, " of ", op, " holds ", to_string(memory.type), ", but the problem wants ",
                    to_string(spec.type)));
  }
  if (memory.count < spec.elements) {
    refuse(sentence("operand ", spec.name, " of ", op, " has ", memory.count, " elements, but must have at least ",
                    spec.elements));
  }
  if (memory.data == nullptr && spec.elements != 0)
    refuse(sentence("operand ", spec.name, " of ", op, " is null, but must have ", spec.elements, " elements"));
}

bool overlap(const OperandSpec& a, const HostMemory& at_a, const OperandSpec& b, const HostMemory& at_b) {
  if (!at_a.is_there || !at_b.is_there || a.elements == 0 || b.elements == 0) return false;
  const auto begin = [](const HostMemory& memory) { return reinterpret_cast<std::uintptr_t>(memory.data); };
  return begin(at_a) < begin(at_b) + b.elements * size_bytes(b.type) &&
         begin(at_b) < begin(at_a) + a.elements * size_bytes(a.type);
}

}  // namespace

void check_host_operands(std::string_view operator_name, std::span<const OperandSpec> specs,
                         std::span<const HostMemory> operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) check_host_operand(operator_name, specs[i], operands[i]);
  for (std::size_t written = 0; written < operands.size(); ++written) {
    if (specs[written].access != Access::write) continue;
    for (std::size_t other = 0; other < operands.size(); ++other) {
      if (other == written || !overlap(specs[written], operands[written], specs[other], operands[other])) continue;
      refuse(sentence("operand ", specs[written].name, " of ", operator_name, " overlaps operand ", specs[other].name,
                      " in the host's memory, but an output must not overlap"));
    }
  }
}

}  // namespace tessera::detail
