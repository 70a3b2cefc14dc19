// Makes PTX for sm_90a of PTX for sm_90.
#include "opencl_ptx.h"

namespace tessera::opencl {

std::optional<std::string> ptx_for_sm_90a(std::string ptx) {
  constexpr std::string_view kTarget = ".target sm_90";
  const std::size_t target = ptx.find(kTarget);
  const std::size_t behind = target + kTarget.size();
  // Not ".target sm_90a", and not inside of a comment: PTX names its target before anything else but the version.
  if (target == std::string::npos || behind >= ptx.size()) return {};
  if (ptx[behind] != '\n' && ptx[behind] != '\r' && ptx[behind] != ',' && ptx[behind] != ' ') return {};
  ptx.insert(behind, "a");
  std::size_t at = ptx.find(kLineForSm90a);
  if (at == std::string::npos) return {};
  for (; at != std::string::npos; at = ptx.find(kLineForSm90a, at)) {
    ptx.replace(at, kLineForSm90a.size(), kLineForSm90a.size(), ' ');
  }
  return ptx;
}

}  // namespace tessera::opencl
