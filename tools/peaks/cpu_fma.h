// The loop that finds a CPU's ceiling for multiply-adds, fused where they are of floats: in registers only, in the
// widest vectors that this CPU has.
#pragma once

#include <cstdint>

namespace tessera::tool {

/// Independent chains of every peak kernel, on CPUs and GPUs. A fused multiply-add takes 4 or 5 cycles and CPUs start
/// two in each, so 8 to 10 chains fill the pipes; 12 with their two constants still fit the 16 registers of AVX2.
inline constexpr int kFmaChains = 12;

/// Elements of one vector.
template <class T>
[[nodiscard]] int cpu_fma_lanes();

/// Runs kFmaChains chains of x = x * factor + term, `iterations` times each. The sum of what they end with is returned,
/// so that nothing can be left out.
template <class T>
[[nodiscard]] T cpu_fma(T factor, T term, std::int64_t iterations);

extern template int cpu_fma_lanes<float>();
extern template int cpu_fma_lanes<double>();
extern template int cpu_fma_lanes<std::uint32_t>();
extern template float cpu_fma<float>(float, float, std::int64_t);
extern template double cpu_fma<double>(double, double, std::int64_t);
extern template std::uint32_t cpu_fma<std::uint32_t>(std::uint32_t, std::uint32_t, std::int64_t);

}  // namespace tessera::tool
