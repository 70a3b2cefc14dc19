// Threads that are started for each run and wait for each other, so that their starting is not measured.
#include "benchmarks/triad.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <limits>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tessera::benchmarks {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kElements = std::size_t{1} << 24;  // 64 MiB an array, as an image of 4096 x 4096
constexpr int kRuns = 9;

void triad(float* a, const float* b, const float* c, std::size_t count) {
#if defined(__SSE2__)
  const __m128 factor = _mm_set1_ps(3);
  for (std::size_t i = 0; i < count; i += 4) {
    _mm_stream_ps(a + i, _mm_add_ps(_mm_loadu_ps(b + i), _mm_mul_ps(factor, _mm_loadu_ps(c + i))));
  }
  _mm_sfence();
#else
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + 3 * c[i];
#endif
}

}  // namespace

double triad_bytes_per_s(int threads) {
  constexpr std::size_t kAlignment = 16;  // elements: a cache line
  std::vector<float> memory(3 * kElements + kAlignment, 1.0F);
  float* const first =
      memory.data() + kAlignment - reinterpret_cast<std::size_t>(memory.data()) / sizeof(float) % kAlignment;
  const std::size_t share = kElements / static_cast<std::size_t>(threads) / kAlignment * kAlignment;
  double best_s = std::numeric_limits<double>::infinity();
  std::barrier together(threads);
  std::vector<std::vector<double>> times(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> workers;
    for (std::size_t worker = 0; worker < static_cast<std::size_t>(threads); ++worker) {
      workers.emplace_back([&, worker] {
        float* const a = first + worker * share;
        for (int run = 0; run < kRuns; ++run) {
          together.arrive_and_wait();
          const auto start = Clock::now();
          triad(a, a + kElements, a + 2 * kElements, share);
          times[worker].push_back(std::chrono::duration<double>(Clock::now() - start).count());
        }
      });
    }
  }
  for (int run = 0; run < kRuns; ++run) {
    double slowest = 0;
    for (const auto& of_worker : times) slowest = std::max(slowest, of_worker[static_cast<std::size_t>(run)]);
    best_s = std::min(best_s, slowest);
  }
  return static_cast<double>(3 * share * static_cast<std::size_t>(threads) * sizeof(float)) / best_s;
}

}  // namespace tessera::benchmarks
