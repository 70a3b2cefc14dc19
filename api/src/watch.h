// What is watched just now: the log, the trace, a profiler's ranges. One number, so that a library that nobody watches
// looks at it and goes on.
#pragma once

#include <tessera/log.h>

#include <atomic>
#include <cstdint>

namespace tessera::detail {

/// Who watches: LogKind's own bits, and behind them these.
inline constexpr std::uint32_t kWatchTrace = 16;
inline constexpr std::uint32_t kWatchRanges = 32;

[[nodiscard]] constexpr std::uint32_t bits_of(LogKind kind) noexcept {
  return static_cast<std::uint32_t>(kind);
}

/// Who is told of the host's calls, and of commands.
inline constexpr std::uint32_t kWatchCalls = kWatchTrace | kWatchRanges;
inline constexpr std::uint32_t kWatchCommands =
    kWatchCalls | bits_of(LogKind::copy) | bits_of(LogKind::compile) | bits_of(LogKind::memory);

extern constinit std::atomic<std::uint32_t> watched_bits;

[[nodiscard]] inline bool is_watched(std::uint32_t bits) noexcept {
  return (watched_bits.load(std::memory_order_relaxed) & bits) != 0;
}
[[nodiscard]] inline bool is_logged(LogKind kind) noexcept {
  return is_watched(bits_of(kind));
}
/// Of the bits in `mask`, those in `bits` are watched from now on and the others not. From any thread.
void set_watched(std::uint32_t mask, std::uint32_t bits) noexcept;

/// $TESSERA_LOG, $TESSERA_TRACE and the profiler that $NVTX_INJECTION64_PATH names, each once a process. Errors as
/// start_trace(), and invalid_argument for a word in $TESSERA_LOG that is no kind.
void watch_from_environment();

}  // namespace tessera::detail
