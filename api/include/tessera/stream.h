// Problems that are larger than a device's memory: their operands stay in the host's and pass through the device in
// slabs, copies beside computation.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tessera/device.h>
#include <tessera/export.h>
#include <tessera/kernel.h>

namespace tessera {

/// How far a stream is. What a slab takes is much the same for all but the last.
struct StreamProgress {
  std::int64_t done = 0;   ///< slabs whose results are there
  std::int64_t slabs = 0;  ///< altogether
};

struct StreamOptions {
  KernelOptions kernel = {};  ///< as for Device::kernel(): chosen for the whole problem, used for every slab; where
                              ///< slabs cannot have what was tuned or what the site forces, the default that ships is
  /// The most that buffers and workspaces may take on the device; 0: nine tenths of what is free when the call begins.
  /// What kernels hold for themselves, MemoryStatistics::held_bytes, is not part of it.
  std::uint64_t memory_bytes = 0;
  /// Called by the calling thread after each slab. What it throws ends the stream: the slabs that have begun run to
  /// their end, and stream() throws the same.
  std::function<void(const StreamProgress&)> progress = {};
};

/// When a slab was copied and computed, in seconds of the device's clock since the stream began. A slab that uploads or
/// downloads nothing has equal times.
struct SlabTimes {
  double upload_begin_s = 0;
  double upload_end_s = 0;
  double run_begin_s = 0;
  double run_end_s = 0;
  double download_end_s = 0;  ///< it begins when the run ends
};

struct StreamReport {
  KernelInfo kernel;               ///< of the first slab
  std::uint64_t memory_bytes = 0;  ///< that buffers and workspaces took
  std::vector<SlabTimes> slabs;    ///< in the order in which they ran; one if the problem fits into the memory
};

/// Computes the problem with operands in the host's memory, and returns when the results are there:
///
///   tessera::stream(device, problem, {.queries = queries, .training = rows, .targets = labels, .values = values});
///
/// Results have the bits that the same variant gives in one piece, however the problem is cut. It is cut only where it
/// must be; a default that takes a problem in one piece then gives way to a variant that does not, and the report says
/// which. Uploads are fastest from PinnedBuffer. Operators whose problem has HostOperands have it.
///
/// Errors: invalid_argument for a wrong problem or operand, and for a memory limit that the smallest slab passes;
/// out_of_memory if that is more than the device has free; unsupported, with the reason, for a variant that cannot, or
/// takes the problem in one piece where that does not fit; and those of kernels and queues. Results are then as they
/// happen to be, and everything that the stream took on the device has been given back.
template <class Problem>
StreamReport stream(const Device& device, const Problem& problem, const typename Problem::HostOperands& operands,
                    const StreamOptions& options = {});

}  // namespace tessera
