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

std::string instruction_set() {
  return instruction_set_name(HWY_DYNAMIC_DISPATCH(compiled_target)());
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
