// Asks Highway, by the same choice that the kernels are dispatched by. Compiled once for every instruction set.
#include "cpu_tbb_instruction_set.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu_tbb_instruction_set.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace cpu_tbb_instruction_set {

std::int64_t compiled_target() {
  return HWY_TARGET;
}

}  // namespace cpu_tbb_instruction_set
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(compiled_target);

namespace {

bool processor_has_vnni() {
#if HWY_ARCH_X86
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return false;
#endif
}

/// What CPUID says of AMX, as bits of its leaf 7. 0 where Linux does not save tiles for this process: it does so on
/// request (arch_prctl(2) of Linux 5.16), which counts for all threads; older ones refuse, and so does one whose signal
/// stacks would be too small.
constexpr unsigned kNumbersOf16Bits = 1U << 22, kTiles = 1U << 24, kBytes = 1U << 25;
unsigned usable_amx() {
#if defined(__x86_64__) && defined(__linux__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTiles) == 0) return 0;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0 ? d : 0;
#else
  return 0;
#endif
}
bool has_amx_with(unsigned extension) {
  static const unsigned usable = usable_amx();
  return (usable & extension) != 0;
}
bool vnni_is_left_out = false;
bool amx_is_left_out = false;

}  // namespace

std::string instruction_set() {
  const char* const extensions = has_amx() ? " with VNNI and AMX" : has_vnni() ? " with VNNI" : "";
  return instruction_set_name(HWY_DYNAMIC_DISPATCH(compiled_target)()) + extensions;
}

bool has_vnni() {
  static const bool is_there =
      HWY_ARCH_X86 && HWY_DYNAMIC_DISPATCH(compiled_target)() <= HWY_AVX3 && processor_has_vnni();
  return is_there && !vnni_is_left_out;
}
bool has_amx() {
  return has_vnni() && !amx_is_left_out && has_amx_with(kBytes);
}
bool has_amx_bfloat16() {
  return has_vnni() && !amx_is_left_out && has_amx_with(kNumbersOf16Bits);
}
void leave_amx_out() {
  amx_is_left_out = true;
}
void leave_vnni_out() {
  vnni_is_left_out = amx_is_left_out = true;
}

std::string instruction_set_name(std::int64_t target) {
  const std::string name = hwy::TargetName(target);
  if (name.starts_with("AVX3")) return "AVX-512";
  if (name == "SSE4") return "SSE4.2";
  if (name == "SCALAR" || name.starts_with("EMU")) return "none, plain C++";
  return name;
}

}  // namespace tessera::cpu_tbb
#endif
