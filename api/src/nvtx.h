// Ranges for NVIDIA's profilers (NVTX 3). A profiler names its library in $NVTX_INJECTION64_PATH; without one none of
// this is loaded.
#pragma once

#include <string>

namespace tessera::detail {

/// Loads the profiler's library and lets it say what it wants to hear. False if it cannot be loaded or does not want
/// to. Called once a process.
[[nodiscard]] bool open_nvtx(const std::string& path);

/// Begin and end a range on the calling thread; ranges nest. Only after open_nvtx() answered true.
void push_nvtx_range(const char* name) noexcept;
void pop_nvtx_range() noexcept;

}  // namespace tessera::detail
