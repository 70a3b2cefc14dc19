// One loop, compiled for three vector widths, chosen by what the CPU says.
#include "tools/peaks/cpu_read.h"

namespace tessera::tool {

namespace {

/// Eight sums, so that loads wait for nothing but the ports that they go through. They are single variables, because
/// GCC keeps an array of them in memory. A type that is no parameter would not become a vector of kBytes.
template <class Word, int kBytes>
__attribute__((always_inline)) inline Word read_by(const Word* words, std::size_t bytes, std::int64_t times) {
  using Vector [[gnu::vector_size(kBytes)]] = Word;
  constexpr std::size_t kSums = 8, kLanes = kBytes / sizeof(Word);
  static_assert(kReadPiece % (kBytes * kSums) == 0, "a piece is whole rounds of loads");
  const auto combine = [](Vector & sum, const Word* from) __attribute__((always_inline)) {
    Vector loaded;
    __builtin_memcpy(&loaded, from, kBytes);
    sum ^= loaded;
  };
  Vector a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  const std::size_t rounds = bytes / kReadPiece * kReadPiece / (kBytes * kSums);
  for (std::int64_t time = 0; time < times; ++time) {
    const Word* from = words;
    for (std::size_t round = 0; round < rounds; ++round, from += kSums * kLanes) {
      combine(a, from), combine(b, from + kLanes), combine(c, from + 2 * kLanes), combine(d, from + 3 * kLanes);
      combine(e, from + 4 * kLanes), combine(f, from + 5 * kLanes), combine(g, from + 6 * kLanes);
      combine(h, from + 7 * kLanes);
    }
    asm volatile("" ::: "memory");  // or else the compiler may read it once
  }
  const Vector all = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
  Word result = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) result ^= all[lane];
  return result;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) std::uint32_t read_avx512(const std::uint32_t* words, std::size_t bytes,
                                                             std::int64_t times) {
  return read_by<std::uint32_t, 64>(words, bytes, times);
}
__attribute__((target("avx2"))) std::uint32_t read_avx2(const std::uint32_t* words, std::size_t bytes,
                                                        std::int64_t times) {
  return read_by<std::uint32_t, 32>(words, bytes, times);
}
#endif

}  // namespace

std::uint32_t cpu_read(std::span<const std::uint32_t> words, std::int64_t times) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return read_avx512(words.data(), words.size_bytes(), times);
  if (__builtin_cpu_supports("avx2")) return read_avx2(words.data(), words.size_bytes(), times);
#endif
  return read_by<std::uint32_t, 16>(words.data(), words.size_bytes(), times);
}

}  // namespace tessera::tool
