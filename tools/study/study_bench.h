// What every study measures with: jobs of its cases, and transfers, under one progress bar and into one list of
// records.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/bench/benchmark.h"
#include "tools/peaks/device_peaks.h"
#include "tools/study/study.h"
#include "tools/study/transfers.h"

namespace tessera::tool {

/// How much longer a single run may take on the cases that try tuning values.
inline constexpr double kReferenceFactor = 15;

/// A single run may take as long as it does.
inline constexpr double kNoLimit_s = 1e9;

using WantedCase = bool (*)(const conformance::Case& problem);

/// The job on another device. Whether its variant can run, and is the default, is asked of that device.
[[nodiscard]] Job moved_to(const OpenDevice& device, Job job);
/// Does the job's variant have these tunables on its device, and these values?
[[nodiscard]] bool offers(const Job& job, const Tuning& tuning);

class StudyBench {
 public:
  /// Plans the jobs of the study's cases. UsageError as plan_jobs().
  StudyBench(const Study& study, const StudyRequest& request, const std::vector<OpenDevice>& devices,
             const DevicePeaks& peaks);

  /// Is this part of the study asked for?
  [[nodiscard]] bool wants(std::string_view part) const;

  /// Every variant on every case of this part of the study, device by device. Records are in the order in which they
  /// were measured; Ctrl-C ends it early.
  ///
  /// `tunables` are those whose other values are tried on the cases that are meant for it; there a single run may take
  /// kReferenceFactor times the limit, so that slow variants have a figure too. Where the default variant
  /// seems to be slower than kLeastOfBest of the library's best one, both are measured again in turn, three times, and
  /// the middle ones count: two measurements one after the other differ on a machine that is never quiet.
  [[nodiscard]] std::vector<BenchRecord> measure_variants(std::string_view part,
                                                          const std::vector<std::string_view>& tunables);
  /// The same with one variant alone.
  [[nodiscard]] std::vector<BenchRecord> measure_variant(std::string_view part, std::string_view variant,
                                                         const std::vector<std::string_view>& tunables);

  /// The variants on those cases of this part that are wanted again, on those devices that can be opened with fewer
  /// threads ("cpu:0?threads=4"): with every power of two below the device's own number of threads, with which
  /// measure_variants() has measured already.
  /// No tuning values are tried, and no peaks are known. `serial` variants run on one thread whatever there is, and are
  /// left out. A single run may take kReferenceFactor times the limit: without the time of one thread there is no
  /// speed-up to tell.
  [[nodiscard]] std::vector<BenchRecord> measure_threads(std::string_view part, WantedCase wanted,
                                                         const std::vector<std::string_view>& serial);

  /// These variants with this tuning on devices with each of these numbers of threads, more than the machine has among
  /// them where a device gives as many. A single run may take kReferenceFactor times the limit.
  /// `only_if_all`: only on devices that give every one of them.
  [[nodiscard]] std::vector<BenchRecord> measure_thread_counts(std::string_view part,
                                                               const std::vector<std::uint32_t>& counts,
                                                               const std::vector<std::string_view>& variants,
                                                               const Tuning& tuning, bool only_if_all);

  /// One variant on this part's cases, however long a run takes: the verified run is the measured one. On a terminal
  /// the bar goes with the time that an earlier case foretells.
  [[nodiscard]] std::vector<BenchRecord> measure_long(std::string_view part, std::string_view variant);

  /// One variant with each of these tunings, on every device that has all their values, on the cases of this part that
  /// try tuning values. A single run may take kReferenceFactor times the limit.
  [[nodiscard]] std::vector<BenchRecord> measure_tunings(std::string_view part, std::string_view variant,
                                                         const std::vector<Tuning>& tunings);

  /// The way to the device and back, from ordinary and from pinned memory, with the first variant of the selection that
  /// can run: the default, if none was forced.
  [[nodiscard]] std::vector<TransferRecord> measure_transfers(std::string_view part);

  [[nodiscard]] const Study& study() const noexcept { return study_; }
  [[nodiscard]] const std::vector<OpenDevice>& devices() const noexcept { return devices_; }
  [[nodiscard]] const DevicePeaks& peaks() const noexcept { return peaks_; }
  [[nodiscard]] const StudyRequest& request() const noexcept { return request_; }

 private:
  [[nodiscard]] std::vector<Job> jobs_of(std::string_view part) const;
  /// The jobs of this part on devices with fewer threads, which are opened for it.
  [[nodiscard]] std::vector<Job> plan_threads(std::string_view part, WantedCase wanted,
                                              const std::vector<std::string_view>& serial);
  /// measure_variants() of those jobs.
  [[nodiscard]] std::vector<BenchRecord> measure_listed(std::string_view part, std::vector<Job> jobs,
                                                        const std::vector<std::string_view>& tunables);
  /// Measures one job after the other, until Ctrl-C.
  [[nodiscard]] std::vector<BenchRecord> measure_all(const std::vector<Job>& jobs);
  /// `is_reference`: the single run of what is slow may take kReferenceFactor times the limit.
  [[nodiscard]] BenchRecord measure(const Job& job, bool is_reference);
  /// Measures the default and the best variant again, in turn, where the default seems too slow; see
  /// measure_variants(). Looks at the records from `first` on, which are of one device and case.
  void measure_in_turn(std::vector<BenchRecord>& records, std::size_t first);

  const Study& study_;
  const StudyRequest& request_;
  const std::vector<OpenDevice>& devices_;
  const DevicePeaks& peaks_;
  std::vector<Job> jobs_;
  Benchmark benchmark_;
  std::deque<OpenDevice> other_devices_;  ///< with other numbers of threads; records point to them
};

}  // namespace tessera::tool
