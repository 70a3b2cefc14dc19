// What the kernel of cuda_fill.cu takes; read by host and device.
#pragma once

#include <cstdint>

namespace tessera::cuda {

struct FillArguments {
  std::uint64_t* destination;
  std::int64_t count;
  std::uint64_t pattern;
};

inline constexpr unsigned kFillThreads = 256;

}  // namespace tessera::cuda
