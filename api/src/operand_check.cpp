// The checks that every operator's operands pass before a backend sees them.
#include "operand_check.h"

#include "backend/sentence.h"

namespace tessera::detail {
namespace {

using backend::sentence;

[[noreturn]] void refuse_operand(const KernelCore& kernel, const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text).while_doing("queueing " + *kernel.description());
}

void check_operand(const KernelCore& kernel, const OperandSpec& operand) {
  const UntypedView& view = *operand.view;
  const std::string& op = kernel.info().operator_name;
  if (operand.access == Access::none) {
    if (!view) return;
    refuse_operand(kernel, sentence("operand ", operand.name, " of ", op, " has ", view.size(),
                                    " elements, but the problem has no ", operand.name));
  }
  if (!view) {
    refuse_operand(kernel, sentence("operand ", operand.name, " of ", op,
                                    " holds nothing: it was never allocated, was reset or was moved from"));
  }
  if (view.block()->device() != kernel.device()) {
    refuse_operand(kernel, sentence("operand ", operand.name, " of ", op, " lives on ", view.device_name(),
                                    ", but the kernel is for ", kernel.device()->id(),
                                    view.device_name() == kernel.device()->id() ? ", opened another time" : ""));
  }
  if (view.type() != operand.type) {
    refuse_operand(kernel, sentence("operand ", operand.name, " of ", op, " holds ", to_string(view.type()),
                                    ", but the problem is of type ", to_string(operand.type)));
  }
  if (view.size() < operand.elements) {
    refuse_operand(kernel, sentence("operand ", operand.name, " of ", op, " has ", view.size(),
                                    " elements, but must have at least ", operand.elements));
  }
  if (operand.access == Access::write && !view.writable()) {
    refuse_operand(kernel,
                   sentence("operand ", operand.name, " of ", op, " is a read-only view, but ", op, " writes it"));
  }
}

bool overlap(const OperandSpec& a, const OperandSpec& b) {
  if (a.view->block() != b.view->block() || a.elements == 0 || b.elements == 0) return false;
  const auto end = [](const OperandSpec& spec) {
    return spec.view->offset_bytes() + spec.elements * size_bytes(spec.type);
  };
  return a.view->offset_bytes() < end(b) && b.view->offset_bytes() < end(a);
}

}  // namespace

void check_operands(const KernelCore& kernel, const QueueCore& queue, std::span<const OperandSpec> operands) {
  if (queue.device() != kernel.device()) {
    refuse_operand(kernel, sentence(queue.description(), " is asked to run a kernel made for ", kernel.device()->id(),
                                    queue.device()->id() == kernel.device()->id() ? ", opened another time" : ""));
  }
  for (const OperandSpec& operand : operands) check_operand(kernel, operand);
  for (const OperandSpec& written : operands) {
    if (written.access != Access::write) continue;
    for (const OperandSpec& other : operands) {
      if (&other == &written || !overlap(written, other)) continue;
      refuse_operand(kernel, sentence("operand ", written.name, " of ", kernel.info().operator_name, ", from byte ",
                                      written.view->offset_bytes(), " of its buffer, overlaps operand ", other.name,
                                      ", from byte ", other.view->offset_bytes(), ", but an output must not overlap"));
    }
  }
}

}  // namespace tessera::detail
