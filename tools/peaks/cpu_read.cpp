// One loop, compiled for three vector widths, chosen by what the CPU says.
#include "tools/peaks/cpu_read.h"

namespace tessera::tool {

namespace {

/// Eight sums, so that loads wait for nothing but the ports that they go through.
template <int kBytes>
__attribute__((always_inline)) inline std::uint32_t read_by(const std::uint32_t* words, std::size_t bytes,
                                                            std::int64_t times) {
  using Vector [[gnu::vector_size(kBytes), gnu::aligned(4), gnu::may_alias]] = std::uint32_t;
  using Sum [[gnu::vector_size(kBytes)]] = std::uint32_t;
  constexpr int kSums = 8;
  static_assert(kReadPiece % (kBytes * kSums) == 0, "a piece is whole rounds of loads");
  Sum a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  const std::size_t rounds = bytes / kReadPiece * kReadPiece / (kBytes * kSums);
  for (std::int64_t time = 0; time < times; ++time) {
    const auto* from = reinterpret_cast<const Vector*>(words);
    for (std::size_t round = 0; round < rounds; ++round, from += kSums) {
      a ^= from[0], b ^= from[1], c ^= from[2], d ^= from[3];
      e ^= from[4], f ^= from[5], g ^= from[6], h ^= from[7];
    }
    asm volatile("" ::: "memory");  // or else the compiler may read it once
  }
  const Sum all = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
  std::uint32_t result = 0;
  for (int lane = 0; lane < kBytes / 4; ++lane) result ^= all[lane];
  return result;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) std::uint32_t read_avx512(const std::uint32_t* words, std::size_t bytes,
                                                             std::int64_t times) {
  return read_by<64>(words, bytes, times);
}
__attribute__((target("avx2"))) std::uint32_t read_avx2(const std::uint32_t* words, std::size_t bytes,
                                                        std::int64_t times) {
  return read_by<32>(words, bytes, times);
}
#endif

}  // namespace

std::uint32_t cpu_read(std::span<const std::uint32_t> words, std::int64_t times) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return read_avx512(words.data(), words.size_bytes(), times);
  if (__builtin_cpu_supports("avx2")) return read_avx2(words.data(), words.size_bytes(), times);
#endif
  return read_by<16>(words.data(), words.size_bytes(), times);
}

}  // namespace tessera::tool
