// One loop, compiled for three vector widths, chosen by what the CPU says. Compiled with -ffp-contract=fast, so that a
// product and a sum become one instruction where the instruction set has it.
#include "tools/peaks/cpu_fma.h"

namespace tessera::tool {

namespace {

/// The chains are single variables, because GCC keeps an array of them in memory.
template <class T, int kBytes>
__attribute__((always_inline)) inline T run_chains(T factor, T term, std::int64_t iterations) {
  static_assert(kFmaChains == 12, "one variable for each chain");
  using Vector [[gnu::vector_size(kBytes)]] = T;
  const Vector f = factor - Vector{};
  const Vector t = term - Vector{};
  Vector a = t, b = a + t, c = b + t, d = c + t, e = d + t, g = e + t;
  Vector h = g + t, i = h + t, j = i + t, k = j + t, l = k + t, m = l + t;
  for (std::int64_t step = 0; step < iterations; ++step) {
    a = a * f + t, b = b * f + t, c = c * f + t, d = d * f + t, e = e * f + t, g = g * f + t;
    h = h * f + t, i = i * f + t, j = j * f + t, k = k * f + t, l = l * f + t, m = m * f + t;
  }
  const Vector sum = a + b + c + d + e + g + h + i + j + k + l + m;
  T result = 0;
  for (int lane = 0; lane < kBytes / static_cast<int>(sizeof(T)); ++lane) result += sum[lane];
  return result;
}

#if defined(__x86_64__)
template <class T>
__attribute__((target("avx512f"))) T run_avx512(T factor, T term, std::int64_t iterations) {
  return run_chains<T, 64>(factor, term, iterations);
}
template <class T>
__attribute__((target("avx2,fma"))) T run_avx2(T factor, T term, std::int64_t iterations) {
  return run_chains<T, 32>(factor, term, iterations);
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0;
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
#endif

int vector_bytes() {
#if defined(__x86_64__)
  if (has_avx512()) return 64;
  if (has_avx2()) return 32;
#endif
  return 16;
}

}  // namespace

template <class T>
int cpu_fma_lanes() {
  return vector_bytes() / static_cast<int>(sizeof(T));
}

template <class T>
T cpu_fma(T factor, T term, std::int64_t iterations) {
#if defined(__x86_64__)
  if (has_avx512()) return run_avx512(factor, term, iterations);
  if (has_avx2()) return run_avx2(factor, term, iterations);
#endif
  return run_chains<T, 16>(factor, term, iterations);
}

template int cpu_fma_lanes<float>();
template int cpu_fma_lanes<double>();
template int cpu_fma_lanes<std::uint32_t>();
template float cpu_fma<float>(float, float, std::int64_t);
template double cpu_fma<double>(double, double, std::int64_t);
template std::uint32_t cpu_fma<std::uint32_t>(std::uint32_t, std::uint32_t, std::int64_t);

}  // namespace tessera::tool
