// The ceilings of a device's arithmetic.
#pragma once

#include "tools/peaks/peaks.h"

namespace tessera::tool {

/// Of multiply-adds in float32, float64 or int32, in 10^9 operations a second.
[[nodiscard]] Peak fma_peak(const Device& device, const DeviceInfo& info, DataType type);

/// Of dot products of bytes: by tiles where a CPU has them and they are faster. OpenCL C has no function for them that
/// every driver offers, so that a processor's OpenCL device takes what the same processor reaches as "cpu:0".
[[nodiscard]] Peak dot_peak(const Device& device, const DeviceInfo& info);

}  // namespace tessera::tool
