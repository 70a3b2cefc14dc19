// One loop for each instruction, chosen by what the CPU says. Chains begin with numbers of their own, because a
// compiler computes those that begin alike but once.
#include "tools/peaks/cpu_bytes.h"

#include <cstring>

#include "tools/peaks/cpu_fma.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tessera::tool {

namespace {

struct DotLoop {
  std::uint32_t (*run)(std::uint32_t factor, std::uint32_t term, std::int64_t iterations);
  int lanes;
  double operations_of_a_lane;
};

/// Where there is no such instruction: multiply-adds of 16 bits, the narrowest that every CPU has.
std::uint32_t dot_of_shorts(std::uint32_t factor, std::uint32_t term, std::int64_t iterations) {
  using Shorts [[gnu::vector_size(16)]] = std::uint16_t;
  const Shorts f = static_cast<std::uint16_t>(factor) - Shorts{};
  const Shorts t = static_cast<std::uint16_t>(term) - Shorts{};
  Shorts a = t, b = a + t, c = b + t, d = c + t, e = d + t, g = e + t;
  Shorts h = g + t, i = h + t, j = i + t, k = j + t, l = k + t, m = l + t;
  for (std::int64_t step = 0; step < iterations; ++step) {
    a = a * f + t, b = b * f + t, c = c * f + t, d = d * f + t, e = e * f + t, g = g * f + t;
    h = h * f + t, i = i * f + t, j = j * f + t, k = k * f + t, l = l * f + t, m = m * f + t;
  }
  const Shorts all[] = {a, b, c, d, e, g, h, i, j, k, l, m};
  std::uint32_t sum = 0;
  for (const Shorts& chain : all) {
    for (int lane = 0; lane < 8; ++lane) sum += chain[lane];
  }
  return sum;
}
constexpr DotLoop kDotOfShorts{dot_of_shorts, 8, 2};

#if defined(__x86_64__)
// The chains are single variables, because GCC keeps an array of them in memory.
#define TESSERA_TWELVE_CHAINS(STEP) \
  STEP(a) STEP(b) STEP(c) STEP(d) STEP(e) STEP(g) STEP(h) STEP(i) STEP(j) STEP(k) STEP(l) STEP(m)
static_assert(kFmaChains == 12, "one variable for each chain");

/// Four products and four sums by one instruction.
constexpr double kOfADotProduct = 8;

template <int kLanes>
std::uint32_t sum_of(const std::uint32_t (&lanes)[kLanes]) {
  std::uint32_t sum = 0;
  for (const std::uint32_t lane : lanes) sum += lane;
  return sum;
}

__attribute__((target("avx512f,avx512vnni"))) std::uint32_t dot_512(std::uint32_t factor, std::uint32_t term,
                                                                    std::int64_t iterations) {
  const __m512i f = _mm512_set1_epi32(static_cast<int>(factor)), t = _mm512_set1_epi32(static_cast<int>(term));
  const __m512i one = _mm512_set1_epi32(1);
  __m512i next = t;
#define TESSERA_BEGIN(x) \
  __m512i x = next;      \
  next = _mm512_add_epi32(next, one);
  TESSERA_TWELVE_CHAINS(TESSERA_BEGIN)
#undef TESSERA_BEGIN
#define TESSERA_STEP(x) x = _mm512_dpbusd_epi32(x, f, t);
  for (std::int64_t step = 0; step < iterations; ++step) {
    TESSERA_TWELVE_CHAINS(TESSERA_STEP)
  }
#undef TESSERA_STEP
  __m512i sum = _mm512_setzero_si512();
#define TESSERA_SUM(x) sum = _mm512_add_epi32(sum, x);
  TESSERA_TWELVE_CHAINS(TESSERA_SUM)
#undef TESSERA_SUM
  std::uint32_t lanes[16];
  _mm512_storeu_si512(lanes, sum);
  return sum_of(lanes);
}

__attribute__((target("avx2,avxvnni"))) std::uint32_t dot_256(std::uint32_t factor, std::uint32_t term,
                                                              std::int64_t iterations) {
  const __m256i f = _mm256_set1_epi32(static_cast<int>(factor)), t = _mm256_set1_epi32(static_cast<int>(term));
  const __m256i one = _mm256_set1_epi32(1);
  __m256i next = t;
#define TESSERA_BEGIN(x) \
  __m256i x = next;      \
  next = _mm256_add_epi32(next, one);
  TESSERA_TWELVE_CHAINS(TESSERA_BEGIN)
#undef TESSERA_BEGIN
#define TESSERA_STEP(x) x = _mm256_dpbusd_avx_epi32(x, f, t);
  for (std::int64_t step = 0; step < iterations; ++step) {
    TESSERA_TWELVE_CHAINS(TESSERA_STEP)
  }
#undef TESSERA_STEP
  __m256i sum = _mm256_setzero_si256();
#define TESSERA_SUM(x) sum = _mm256_add_epi32(sum, x);
  TESSERA_TWELVE_CHAINS(TESSERA_SUM)
#undef TESSERA_SUM
  std::uint32_t lanes[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(lanes), sum);
  return sum_of(lanes);
}

/// Products of bytes added in pairs, these in pairs, and the sums: three instructions for 32 products. They go through
/// the chain, because a compiler would do what is the same in every step but once.
__attribute__((target("avx2"))) std::uint32_t dot_in_steps(std::uint32_t factor, std::uint32_t term,
                                                           std::int64_t iterations) {
  const __m256i f = _mm256_set1_epi32(static_cast<int>(factor)), t = _mm256_set1_epi32(static_cast<int>(term));
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256i one = _mm256_set1_epi32(1);
  __m256i next = t;
#define TESSERA_BEGIN(x) \
  __m256i x = next;      \
  next = _mm256_add_epi32(next, one);
  TESSERA_TWELVE_CHAINS(TESSERA_BEGIN)
#undef TESSERA_BEGIN
#define TESSERA_STEP(x) x = _mm256_add_epi32(t, _mm256_madd_epi16(_mm256_maddubs_epi16(x, f), ones));
  for (std::int64_t step = 0; step < iterations; ++step) {
    TESSERA_TWELVE_CHAINS(TESSERA_STEP)
  }
#undef TESSERA_STEP
  __m256i sum = _mm256_setzero_si256();
#define TESSERA_SUM(x) sum = _mm256_add_epi32(sum, x);
  TESSERA_TWELVE_CHAINS(TESSERA_SUM)
#undef TESSERA_SUM
  std::uint32_t lanes[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(lanes), sum);
  return sum_of(lanes);
}

/// VEX-encoded VNNI: a leaf that __builtin_cpu_supports of older compilers does not know.
bool has_dot_256() {
  constexpr unsigned kAvxVnni = 1U << 4;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") != 0 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kAvxVnni) != 0;
}
#endif

const DotLoop& dot_loop() {
  static const DotLoop chosen = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vnni") != 0) return DotLoop{dot_512, 16, kOfADotProduct};
    if (has_dot_256()) return DotLoop{dot_256, 8, kOfADotProduct};
    if (__builtin_cpu_supports("avx2") != 0) return DotLoop{dot_in_steps, 8, kOfADotProduct};
#endif
    return kDotOfShorts;
  }();
  return chosen;
}

}  // namespace

int cpu_dot_lanes() {
  return dot_loop().lanes;
}

double cpu_dot_operations() {
  return kFmaChains * dot_loop().lanes * dot_loop().operations_of_a_lane;
}

std::uint32_t cpu_dot(std::uint32_t factor, std::uint32_t term, std::int64_t iterations) {
  return dot_loop().run(factor, term, iterations);
}

double cpu_tile_operations() {
  constexpr double kTiles = 4, kSums = 16 * 16, kDepth = 64;
  return kTiles * kSums * kDepth * 2;
}

#if defined(__x86_64__) && defined(__linux__)

/// Linux saves tiles for a process that asks for it (arch_prctl(2) of Linux 5.16); that counts for all threads.
bool cpu_has_tiles() {
  static const bool is_there = [] {
    constexpr unsigned kTiles = 1U << 24, kBytes = 1U << 25;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTiles) == 0 || (d & kBytes) == 0) return false;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return is_there;
}

__attribute__((target("amx-tile,amx-int8"))) std::uint32_t cpu_tiles(std::int64_t iterations) {
  // Eight tiles of 16 rows of 64 bytes, as the processor reads it: palette, first row, then bytes of a row and rows.
  alignas(64) std::uint8_t shapes[64] = {1};
  for (int tile = 0; tile < 8; ++tile) {
    shapes[16 + 2 * tile] = 64;
    shapes[48 + tile] = 16;
  }
  alignas(64) std::uint8_t bytes[16][64];
  std::memset(bytes, 3, sizeof(bytes));
  alignas(64) std::uint32_t sums[4][16][16];
  asm volatile("" ::"r"(shapes), "r"(bytes) : "memory");  // the intrinsics do not tell the compiler what they read
  _tile_loadconfig(shapes);
  _tile_loadd(4, bytes, 64);
  _tile_loadd(5, bytes, 64);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t step = 0; step < iterations; ++step) {
    _tile_dpbuud(0, 4, 5);
    _tile_dpbuud(1, 4, 5);
    _tile_dpbuud(2, 4, 5);
    _tile_dpbuud(3, 4, 5);
  }
  _tile_stored(0, sums[0], 64);
  _tile_stored(1, sums[1], 64);
  _tile_stored(2, sums[2], 64);
  _tile_stored(3, sums[3], 64);
  _tile_release();
  std::uint32_t sum = 0;
  for (const auto& tile : sums) {
    for (const auto& row : tile) {
      for (const std::uint32_t one : row) sum += one;
    }
  }
  return sum;
}

#else

bool cpu_has_tiles() {
  return false;
}

std::uint32_t cpu_tiles(std::int64_t /*iterations*/) {
  return 0;
}

#endif

}  // namespace tessera::tool
