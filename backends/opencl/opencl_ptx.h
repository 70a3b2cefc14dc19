// NVIDIA's driver compiles OpenCL for sm_90, whose PTX lacks Hopper's products by warp groups. Its binaries are PTX, a
// text, and it takes such texts back: so a program may hold lines that are comments until they are made PTX for sm_90a.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::opencl {

/// What such a line begins with, wherever it stands in its line.
inline constexpr std::string_view kLineForSm90a = "//sm_90a ";

/// The text for sm_90a, its lines no longer comments; or nothing where this is not PTX for sm_90, or has no such line.
[[nodiscard]] std::optional<std::string> ptx_for_sm_90a(std::string ptx);

}  // namespace tessera::opencl
