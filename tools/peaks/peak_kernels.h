// The programs that reach a device's ceilings, in every language that backends take: fused multiply-adds in registers,
// and a plain copy.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::tool {

/// A kernel of many independent multiply-add chains: (output, factor, term, iterations).
struct FmaProgram {
  KernelSource source;
  LaunchShape shape;
  double flops_per_iteration = 0;   ///< of the whole launch; a multiply-add counts as two
  std::size_t output_elements = 0;  ///< at least so many in the output buffer
};

/// What to try on this device for float32 or float64. The fastest counts: how wide a vector an OpenCL CPU device wants
/// is its compiler's secret.
[[nodiscard]] std::vector<FmaProgram> fma_programs(const DeviceInfo& info, DataType type);

constexpr std::uint64_t kCopyWordBytes = 16;

/// A kernel that copies words of that many bytes: (input, output, count of words).
struct CopyProgram {
  KernelSource source;
  LaunchShape shape;
};
[[nodiscard]] CopyProgram copy_program(const DeviceInfo& info);

}  // namespace tessera::tool
