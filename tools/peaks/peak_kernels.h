// The programs that reach a device's ceilings, in every language that backends take: multiply-adds and dot products in
// registers, and a plain copy.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::tool {

/// A kernel of many independent chains: (output, factor, term, iterations).
struct ChainProgram {
  KernelSource source;
  LaunchShape shape;
  double operations_per_iteration = 0;  ///< of the whole launch; a multiply-add counts as two
  std::size_t output_elements = 0;      ///< at least so many in the output buffer
};

/// What to try on this device for multiply-adds in float32, float64 or int32 (whose buffer holds uint32). The fastest
/// counts: how wide a vector an OpenCL CPU device wants is its compiler's secret.
[[nodiscard]] std::vector<ChainProgram> fma_programs(const DeviceInfo& info, DataType type);

/// What to try for dot products of four bytes, their sums in uint32. OpenCL has no function for them that every driver
/// offers, so that these have no OpenCL source.
[[nodiscard]] std::vector<ChainProgram> dot_programs(const DeviceInfo& info);

constexpr std::uint64_t kCopyWordBytes = 16;

/// A kernel that copies words of that many bytes: (input, output, count of words).
struct CopyProgram {
  KernelSource source;
  LaunchShape shape;
};
[[nodiscard]] CopyProgram copy_program(const DeviceInfo& info);

}  // namespace tessera::tool
