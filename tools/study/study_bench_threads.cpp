// Measuring for studies on devices with other numbers of threads, and what takes minutes.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "tools/process/interrupt.h"
#include "tools/study/study_bench.h"
#include "tools/thread_devices.h"

namespace tessera::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Moves a bar on while another thread computes, until it goes.
class Ticker {
 public:
  Ticker(std::string doing, double expected_s)
      : thread_([this, doing = std::move(doing), expected_s] { run(doing, expected_s); }) {}
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;
  ~Ticker() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void run(const std::string& doing, double expected_s) {
    constexpr auto kEvery = std::chrono::milliseconds(500);
    const auto start = Clock::now();
    const auto total = static_cast<std::size_t>(std::max(1.0, expected_s));
    Progress progress(total);
    std::unique_lock lock(mutex_);
    while (!done_) {
      const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
      progress.tell_time_left(expected_s - elapsed);
      progress.show(std::min(total, static_cast<std::size_t>(elapsed)), doing);
      changed_.wait_for(lock, kEvery);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;  // last: it uses what stands above
};

}  // namespace

std::vector<BenchRecord> StudyBench::measure_thread_counts(std::string_view part,
                                                           const std::vector<std::uint32_t>& counts,
                                                           const std::vector<std::string_view>& variants,
                                                           const Tuning& tuning, bool only_if_all) {
  const auto gives = [](const std::optional<OpenDevice>& device, std::uint32_t count) {
    return device && device->info.compute_units == count;  // some give no more than the machine has
  };
  std::vector<Job> jobs;
  for (const OpenDevice& device : devices_) {
    if (only_if_all &&
        !gives(open_with_threads(device, *std::ranges::max_element(counts)), *std::ranges::max_element(counts)))
      continue;
    for (const std::uint32_t count : counts) {
      std::optional<OpenDevice> other = open_with_threads(device, count);
      if (!gives(other, count)) continue;
      other_devices_.push_back(*std::move(other));
      for (const Job& job : jobs_of(part)) {
        const bool is_wanted = std::find(variants.begin(), variants.end(), job.variant) != variants.end();
        if (job.device != &device || job.is_extra || !is_wanted) continue;
        Job moved = moved_to(other_devices_.back(), job);
        moved.tuning = tuning;
        moved.is_default = false;
        if (offers(moved, tuning)) jobs.push_back(std::move(moved));
      }
    }
  }
  return measure_all(jobs);
}

std::vector<BenchRecord> StudyBench::measure_long(std::string_view part, std::string_view variant) {
  std::vector<BenchRecord> records;
  MeasurementLimits limits = request_.limits;
  limits.one_run_limit_s = kNoLimit_s;
  limits.verified_run_counts_s = limits.time_limit_s;
  try {
    const OpenDevice* device = nullptr;
    double s_per_flop = 0;  // of the case before
    for (const Job& job : jobs_of(part)) {
      if (job.variant != variant || job.is_extra || !job.because.empty()) continue;
      stop_if_interrupted();
      if (std::exchange(device, job.device) != job.device) s_per_flop = 0;
      const double flops = job.problem->work().flops;
      const Ticker ticker(fmt::format("{} {} {}", job.device->name, variant, study_.label(*job.problem)),
                          s_per_flop * flops);
      const auto peaks = peaks_.find(job.device);
      records.push_back(benchmark_.run(job, peaks == peaks_.end() ? Peaks() : peaks->second, limits));
      if (records.back().measurement) s_per_flop = records.back().measurement->wall_s.median / flops;
    }
  } catch (const Interrupted&) {
    // The records so far are returned; the caller learns of the interrupt by itself.
  }
  benchmark_.forget_operands();
  return records;
}

}  // namespace tessera::tool
