// CUDA C++ to machine code at run time, through NVRTC. Needs no device and no driver.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::cuda {

/// What NVRTC is to compile for a device of this compute capability: "sm_90a"; or, for a device newer than NVRTC, the
/// newest that it knows as PTX, "compute_90", which the driver compiles on. Error unavailable if there is no NVRTC.
[[nodiscard]] std::string architecture_for(int compute_capability_major, int compute_capability_minor);

/// Compiles `source` for an architecture as architecture_for() names it. `options` are NVRTC's, separated by spaces.
/// The result can be given to cuModuleLoadData: a cubin, or PTX for a "compute_" architecture. `name` is the kernel's,
/// for the log and the errors. Errors: unavailable if there is no NVRTC; invalid_argument if the options name an
/// architecture; build_failed with NVRTC's whole log.
[[nodiscard]] std::vector<std::byte> compile_to_cubin(const std::string& source, const std::string& options,
                                                      const std::string& architecture, const std::string& name);

/// Everything that the result depends on, as the key of the cache on disk; "" if that cannot be known because the
/// source or the options include other files.
[[nodiscard]] std::string cache_key(const std::string& source, const std::string& options,
                                    const std::string& architecture, const std::string& name);

}  // namespace tessera::cuda
