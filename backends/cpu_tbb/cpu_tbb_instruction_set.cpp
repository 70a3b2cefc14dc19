// Asks Highway, by the same choice that the kernels are dispatched by. Compiled once for every instruction set.
#include "cpu_tbb_instruction_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu_tbb_instruction_set.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {

std::int64_t compiled_target() {
  return HWY_TARGET;
}

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
bool is_left_out = false;

}  // namespace

std::string instruction_set() {
  return instruction_set_name(HWY_DYNAMIC_DISPATCH(compiled_target)()) + (has_vnni() ? " with VNNI" : "");
}

bool has_vnni() {
  static const bool is_there =
      HWY_ARCH_X86 && HWY_DYNAMIC_DISPATCH(compiled_target)() <= HWY_AVX3 && processor_has_vnni();
  return is_there && !is_left_out;
}
void leave_vnni_out() {
  is_left_out = true;
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
