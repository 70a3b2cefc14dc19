// Where a run finds prepared weights: those that the caller prepared, or room for them behind the workspace.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <tessera/kernel.h>

#include "backend/backend.h"
#include "device_core.h"
#include "kernel_core.h"
#include "queue_core.h"

namespace tessera::detail {

/// How a run's weights reach the kernel.
struct WeightsPlan {
  std::shared_ptr<Block> memory;  ///< that the two lie in
  backend::Slice workspace;       ///< of the run and of the preparation
  backend::Slice prepared_here;   ///< behind the workspace, where raw weights are prepared on this run; or null
};

/// The queue's workspace for one run, with room for prepared weights if the kernel wants them and was given raw ones.
[[nodiscard]] inline WeightsPlan plan_weights(QueueCore& queue, const KernelInfo& info, bool are_prepared) {
  if (are_prepared || info.prepared_bytes == 0) {
    auto memory = queue.workspace(info.workspace_bytes);
    const backend::Slice whole = slice_of(memory);
    return {std::move(memory), whole, {}};
  }
  const std::size_t offset = prepared_offset(info);
  auto memory = queue.workspace(offset + info.prepared_bytes);
  const backend::Slice whole = slice_of(memory);
  return {std::move(memory),
          info.workspace_bytes == 0 ? backend::Slice() : whole,
          {whole.buffer, offset, info.prepared_bytes}};
}

}  // namespace tessera::detail
