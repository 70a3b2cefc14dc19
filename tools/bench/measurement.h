// Timing one kernel: how often, in which batches, and the samples. Knows nothing of operators.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include <tessera/tessera.h>

#include "tools/bench/statistics.h"

namespace tessera::tool {

struct MeasurementLimits {
  double warm_up_s = 0.3;      ///< clocks of GPUs need this long to rise
  double first_warm_up_s = 0;  ///< the first time on new operands on a device that is no CPU, if that is longer
  double min_time_s = 0.5;     ///< repetitions go on until they took this long together
  double time_limit_s = 20;    ///< of warm-up and repetitions together
  std::size_t repetitions = 10;
  std::size_t fewest_repetitions = 3;  ///< what is still worth a median where the time limit forbids more
  /// Where the fewest repetitions do not fit, what fits is enough, down to a single run that takes up to this long. 0:
  /// such a record is skipped.
  double one_run_limit_s = 0;
  /// The verified run is the measurement where it took at least this long: no second one of what takes minutes. 0:
  /// never.
  double verified_run_counts_s = 0;
  /// What the fastest so far takes: a record that is far behind it gets its fewest repetitions, without a warm-up. 0:
  /// every record is measured in full.
  double rival_s = 0;
  bool cold = false;  ///< the device's caches are emptied before each timed run
};

/// How a kernel that takes so long will be repeated.
struct MeasurementPlan {
  std::string skipped;          ///< why it is not measured at all; "" if it is
  std::string note;             ///< what is unusual; "" if nothing is
  std::size_t repetitions = 0;  ///< at least
  std::size_t batch = 1;        ///< runs between two events
  bool lead = false;            ///< an untimed run goes ahead, so that the queue is never idle at the first event
};

/// `seconds_per_run` is what one run took, `remaining_s` what the time limit leaves, `flush_s` how long emptying the
/// caches takes: 0 if they are not emptied.
[[nodiscard]] MeasurementPlan plan_measurement(double seconds_per_run, double timer_resolution_s, double remaining_s,
                                               const MeasurementLimits& limits, double flush_s = 0);

struct Measurement {
  MeasurementPlan plan;
  Statistics device_s;  ///< of one run, by the device's clock
  Statistics wall_s;    ///< of one run from the call until the host knows that it is done
  /// What others took of the machine's processors meanwhile, from 0 to 1; nothing if that is unknown.
  std::optional<double> others_share = {};
};

/// What is timed, and what is queued before each time of it: nothing, or what empties the caches.
struct TimedWork {
  std::function<void()> enqueue;     ///< queues one run each time it is called
  std::function<void()> flush = {};  ///< empty: caches stay as the runs leave them
};

/// Warms up by time, then repeats. Throws what the queue throws, and Interrupted at Ctrl-C.
[[nodiscard]] Measurement measure(const TimedWork& work, Queue& queue, double timer_resolution_s,
                                  const MeasurementLimits& limits);

/// One run, without warm-up: device and wall time.
[[nodiscard]] Measurement measure_once(const TimedWork& work, Queue& queue);

/// How far behind limits.rival_s is far behind.
inline constexpr double kFarBehind = 2;

/// The fewest repetitions, without a warm-up and with a note, of what is far behind limits.rival_s even so; nothing of
/// what is not. `first` is what a run before took.
[[nodiscard]] std::optional<Measurement> measure_if_far_behind(const Measurement& first, const TimedWork& work,
                                                               Queue& queue, double timer_resolution_s,
                                                               const MeasurementLimits& limits);

/// A single run, with a note, where that is enough and more would pass the time limit; nothing where they would not.
/// `first` is what a run before took: that one may have been slow because libraries and drivers put much off until
/// they are first used.
[[nodiscard]] std::optional<Measurement> measure_if_slow(const Measurement& first, const TimedWork& work, Queue& queue,
                                                         const MeasurementLimits& limits);

}  // namespace tessera::tool
