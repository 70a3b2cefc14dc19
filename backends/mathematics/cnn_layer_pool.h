// Which pools of cnn_layer kernels compute in registers.
#pragma once

#include <tessera/ops/cnn_layer.h>

namespace tessera::mathematics {

/// Does the pool consist of windows of 2 x 2 beside each other?
[[nodiscard]] constexpr bool has_plain_pool(const CnnLayer& problem) noexcept {
  return problem.pool_size == 2 && problem.pool_stride == 2;
}

}  // namespace tessera::mathematics
