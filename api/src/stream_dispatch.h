// stream(): checks a problem and its operands in the host's memory, and hands them to the operator's own cutting.
// Beside what operator_dispatch.h wants, OperatorTraits have
//   static std::array<HostMemory, N> host_operands(const HostOperands&)    in the order of operands()
#pragma once

#include <exception>

#include <tessera/stream.h>

#include "host_operand_check.h"
#include "operator_dispatch.h"
#include "ops/streams.h"

namespace tessera {

template <class Problem>
StreamReport stream(const Device& device, const Problem& problem, const typename Problem::HostOperands& operands,
                    const StreamOptions& options) {
  using namespace detail;
  std::exception_ptr thrown;  // by the program's own function: passed on as it is
  try {
    return at_boundary([&] {
      DeviceCore& core = core_of(device.core(), "device");
      core.refuse_elsewhere();
      const Problem checked = OperatorTraits<Problem>::checked(problem);
      check_host_operands(Problem::kName, OperatorTraits<Problem>::operands(checked, {}),
                          OperatorTraits<Problem>::host_operands(operands));
      StreamOptions inner = options;
      if (options.progress) {
        inner.progress = [&](const StreamProgress& progress) {
          try {
            options.progress(progress);
          } catch (...) {
            thrown = std::current_exception();
            throw;
          }
        };
      }
      try {
        return stream_in_slabs(device, checked, operands, inner);
      } catch (const Error& error) {
        throw error.while_doing(backend::sentence("streaming ", Problem::kName, " on ", core.id()));
      }
    });
  } catch (const Error&) {
    if (thrown != nullptr) std::rethrow_exception(thrown);
    throw;
  }
}

}  // namespace tessera

/// Puts stream() of an operator into the library, which defines stream_in_slabs() for it.
#define TESSERA_INSTANTIATE_STREAM(Problem)                                                                      \
  template TESSERA_API StreamReport stream<Problem>(const Device&, const Problem&, const Problem::HostOperands&, \
                                                    const StreamOptions&);
