// The memory's bandwidth as a program can reach it: a(i) = b(i) + 3 * c(i) over arrays far larger than the caches.
#pragma once

namespace tessera::benchmarks {

/// Bytes read and written per second with so many threads, the best of several runs. Where the processor can write
/// around its caches, it does: then the bytes counted are all that move.
[[nodiscard]] double triad_bytes_per_s(int threads);

}  // namespace tessera::benchmarks
