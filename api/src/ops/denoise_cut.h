// denoise: how a problem is cut so that its pieces fit into a device's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tessera/ops/denoise_pieces.h>

namespace tessera::detail {

struct DenoiseCut {
  Denoise problem;       ///< checked
  KernelOptions kernel;  ///< with the variant that is chosen for the whole problem
  DenoiseStreamPlan plan;
  std::int64_t sets = 1;            ///< of buffers: 2 if some pass has several pieces
  std::int64_t voxels = 0;          ///< of all channels, that a buffer for any piece of any pass holds
  std::int64_t basic_voxels = 0;    ///< the same of a basic estimate; 0: none is uploaded
  std::size_t workspace_bytes = 0;  ///< that some piece needs
};

/// Of a checked problem. Errors as those of stream().
[[nodiscard]] DenoiseCut cut_denoise(const Device& device, const Denoise& problem, const StreamOptions& options);

}  // namespace tessera::detail
