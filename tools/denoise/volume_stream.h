// A volume that passes the device's memory, by tessera::stream().
#pragma once

#include <string>
#include <vector>

#include <tessera/ops/denoise_pieces.h>

#include "tools/denoise/denoise_progress.h"

namespace tessera::tool {

/// The volume without its noise, and which variant ran. `plan` is plan_stream()'s for this problem. Errors as those of
/// stream(). Interrupted at once: the stream is abandoned.
template <class T>
[[nodiscard]] std::vector<T> stream_volume(const Device& device, const Denoise& problem, const DenoiseStreamPlan& plan,
                                           const KernelOptions& kernel, std::vector<T> volume,
                                           DenoiseProgress& progress, std::string& variant);

}  // namespace tessera::tool
