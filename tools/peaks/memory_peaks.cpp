// Copies and reads of memory far beyond the caches, and reads of what fits into a cache.
#include "tools/peaks/memory_peaks.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "tools/peaks/cpu_caches.h"
#include "tools/peaks/peak_kernels.h"
#include "tools/peaks/peak_timing.h"
#include "tools/peaks/read_kernels.h"

namespace tessera::tool {

namespace {

/// Far beyond the largest caches (a few hundred MiB), both buffers together.
constexpr std::uint64_t kCopyBytes = std::uint64_t{512} << 20;

std::uint64_t bytes_beyond_caches(const DeviceInfo& info) {
  std::uint64_t bytes = kCopyBytes;
  if (info.max_allocation_bytes > 0) bytes = std::min(bytes, info.max_allocation_bytes);
  if (info.memory_total_bytes > 0) bytes = std::min(bytes, info.memory_total_bytes / 8);
  return bytes - bytes % kCopyWordBytes;
}

/// What is read of one level.
struct Level {
  std::string name;
  std::uint64_t capacity_bytes = 0;  ///< 0 for memory
  std::uint64_t read_bytes = 0;      ///< by the whole device; 0: it cannot be told from the level before
  bool takes_turns = false;          ///< every group reads every group's piece, so that no nearer cache serves it
};

/// A piece for each thread that its own share of this level holds, and the level before does not.
std::vector<Level> cpu_levels(std::uint64_t threads) {
  std::vector<Level> levels;
  std::uint64_t before = 0;
  for (const CpuCache& cache : cpu_caches()) {
    const std::uint64_t sharers = std::min<std::uint64_t>(cache.threads, threads);
    const std::uint64_t share = cache.size_bytes / sharers;
    Level level{.name = fmt::format("L{}", cache.level),
                .capacity_bytes = cache.size_bytes * ((threads + cache.threads - 1) / cache.threads)};
    if (share > 2 * before) level.read_bytes = (before + share) / 2 * threads;
    levels.push_back(level);
    before = share;
  }
  return levels;
}

std::vector<Level> levels_of(const DeviceInfo& info) {
  const std::uint64_t units = std::max(info.compute_units, 1U);
  std::vector<Level> levels;
  if (info.kind == DeviceKind::cpu) {
    levels = cpu_levels(units);
  } else if (info.cache_bytes > 0) {
    levels.push_back(
        {.name = "L2", .capacity_bytes = info.cache_bytes, .read_bytes = info.cache_bytes / 2, .takes_turns = true});
  }
  levels.push_back({.name = "memory", .read_bytes = bytes_beyond_caches(info), .takes_turns = true});
  return levels;
}

double read_rate(const Device& device, const DeviceInfo& info, const Level& level) {
  const ReadProgram program = read_program(info);
  const std::uint64_t groups = program.shape.groups.volume();
  const std::uint64_t piece_bytes = std::max(level.read_bytes / groups / kReadPiece, std::uint64_t{1}) * kReadPiece;
  Queue queue(device);
  const OwnKernel kernel = device.compile(program.source);
  const auto words =
      device.allocate<std::uint32_t>(piece_bytes * groups / sizeof(std::uint32_t), {.label = "peak of reads"});
  const auto results = device.allocate<std::uint32_t>(groups * program.shape.group_size.volume());
  queue.fill(words, 0x9E3779B9U);
  const BufferView<const std::uint32_t> from = words;
  // A GPU has a multiple of 16 groups, and half of that and one has no divisor in common with it: no piece is left out.
  const auto turn = static_cast<std::uint32_t>(level.takes_turns ? groups / 2 + 1 : 0);
  const double seconds = best_seconds_of_iteration(queue, 1, [&](std::int32_t times) {
    queue.launch(kernel, program.shape, from, results, piece_bytes, turn, times);
  });
  return static_cast<double>(piece_bytes * groups) / seconds / 1e9;
}

}  // namespace

Peak copy_peak(const Device& device, const DeviceInfo& info) {
  const std::uint64_t bytes = bytes_beyond_caches(info);
  Peak best = attempt([&] {
    Queue queue(device);
    const auto from = device.allocate<std::uint32_t>(bytes / 4, {.label = "peak of copies"});
    const auto to = device.allocate<std::uint32_t>(bytes / 4, {.label = "peak of copies"});
    queue.fill(from, 0x9E3779B9U);
    queue.fill(to, 0x7F4A7C15U);
    const double copy_s = best_seconds(queue, [&] { queue.copy(to, from); });
    double seconds = copy_s;
    const Peak kernel_s = attempt([&] {
      const CopyProgram program = copy_program(info);
      const OwnKernel kernel = device.compile(program.source);
      const std::uint64_t words = bytes / kCopyWordBytes;
      const BufferView<const std::uint32_t> source = from;
      return best_seconds(queue, [&] { queue.launch(kernel, program.shape, source, to, words); });
    });
    if (kernel_s.value) seconds = std::min(seconds, *kernel_s.value);
    return 2.0 * static_cast<double>(bytes) / seconds / 1e9;
  });
  device.trim();
  return best;
}

std::vector<ReadPeak> read_peaks(const Device& device, const DeviceInfo& info, std::string_view only) {
  std::vector<ReadPeak> peaks;
  for (const Level& level : levels_of(info)) {
    if (!only.empty() && level.name != only) continue;
    Peak peak{std::nullopt,
              "a thread's share of it is hardly larger than the level before, so that reads of the two "
              "cannot be told apart"};
    if (level.read_bytes > 0) peak = attempt([&] { return read_rate(device, info, level); });
    peaks.push_back({.level = level.name, .capacity_bytes = level.capacity_bytes, .gbytes_per_s = std::move(peak)});
  }
  device.trim();
  return peaks;
}

}  // namespace tessera::tool
