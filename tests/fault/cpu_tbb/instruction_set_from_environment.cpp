// Makes this build of the plug-in take the instruction set that $TESSERA_FAULT_INSTRUCTION_SET names, by the name that
// DeviceInfo::instruction_set would have, and no better one. Ends the program as skipped, with the reason, where it was
// not compiled or the processor does not have it, or where that is all it has.
#include <hwy/highway.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cpu_tbb_instruction_set.h"

namespace tessera::fault {
namespace {

constexpr int kSkipped = 77;

[[noreturn]] void skip(const std::string& wanted, const char* why) {
  std::printf("skipped: the instruction set '%s' %s\n", wanted.c_str(), why);
  std::fflush(stdout);
  std::_Exit(kSkipped);
}

/// Chosen while the plug-in is loaded, before any of its code has asked Highway for an instruction set.
[[maybe_unused]] const bool is_chosen = [] {
  const char* const value = std::getenv("TESSERA_FAULT_INSTRUCTION_SET");
  if (value == nullptr) return false;
  const std::string wanted = value;
  const std::int64_t supported = hwy::SupportedTargets();
  if (cpu_tbb::instruction_set() == wanted) skip(wanted, "is what this processor takes anyway");
  cpu_tbb::leave_amx_out();
  if (cpu_tbb::instruction_set() == wanted) return true;
  cpu_tbb::leave_vnni_out();
  for (std::int64_t left = HWY_TARGETS; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(target);
    // instruction_set() runs code for the target, so it is called only where the processor has that.
    const bool has_it = (supported & target) != 0;
    if (has_it && cpu_tbb::instruction_set() == wanted) return true;
    if (!has_it && cpu_tbb::instruction_set_name(target) == wanted) skip(wanted, "is not this processor's");
  }
  skip(wanted, wanted == "AVX-512 with VNNI" ? "is not this processor's" : "is not compiled");
}();

}  // namespace
}  // namespace tessera::fault
