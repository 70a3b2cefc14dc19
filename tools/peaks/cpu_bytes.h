// The loops that find a CPU's ceilings for products of bytes: dot products of four by one instruction where it has one,
// and tiles of them (AMX). In registers only.
#pragma once

#include <cstdint>

namespace tessera::tool {

/// Sums that one vector of cpu_dot() holds.
[[nodiscard]] int cpu_dot_lanes();
/// Multiplications and additions that one iteration of cpu_dot() does.
[[nodiscard]] double cpu_dot_operations();
/// kFmaChains chains of x = x + the dot products of four bytes of `factor` with those of `term`, or what this CPU has
/// in its place; they begin with `term`, `term` + 1 and so on. The sum of what they end with is returned, so that
/// nothing can be left out.
[[nodiscard]] std::uint32_t cpu_dot(std::uint32_t factor, std::uint32_t term, std::int64_t iterations);

/// Does this CPU have tiles, and does the system let this process use them?
[[nodiscard]] bool cpu_has_tiles();
/// Multiplications and additions that one iteration of cpu_tiles() does.
[[nodiscard]] double cpu_tile_operations();
/// Products of tiles of bytes into four tiles of sums. Only where cpu_has_tiles().
[[nodiscard]] std::uint32_t cpu_tiles(std::int64_t iterations);

}  // namespace tessera::tool
