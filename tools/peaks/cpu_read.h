// The loop that finds how fast a CPU reads memory or a cache: the widest loads that it has, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::tool {

/// Whole pieces of so many bytes are read; a rest is left out.
inline constexpr std::size_t kReadPiece = 512;

/// Reads all of it `times` over, and returns what all words give by exclusive or.
[[nodiscard]] std::uint32_t cpu_read(std::span<const std::uint32_t> words, std::int64_t times);

}  // namespace tessera::tool
