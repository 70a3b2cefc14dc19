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
};

/// How a kernel that takes so long will be repeated.
struct MeasurementPlan {
  std::string skipped;          ///< why it is not measured at all; "" if it is
  std::string note;             ///< what is unusual; "" if nothing is
  std::size_t repetitions = 0;  ///< at least
  std::size_t batch = 1;        ///< runs between two events
  bool lead = false;            ///< an untimed run goes ahead, so that the queue is never idle at the first event
};

/// `seconds_per_run` is what one run took, `remaining_s` what the time limit leaves.
[[nodiscard]] MeasurementPlan plan_measurement(double seconds_per_run, double timer_resolution_s, double remaining_s,
                                               const MeasurementLimits& limits);

struct Measurement {
  MeasurementPlan plan;
  Statistics device_s;  ///< of one run, by the device's clock
  Statistics wall_s;    ///< of one run from the call until the host knows that it is done
};

/// Warms up by time, then repeats. `enqueue` queues one run each time it is called. Throws what the queue throws, and
/// Interrupted at Ctrl-C.
[[nodiscard]] Measurement measure(const std::function<void()>& enqueue, Queue& queue, double timer_resolution_s,
                                  const MeasurementLimits& limits);

/// One run, without warm-up: device and wall time.
[[nodiscard]] Measurement measure_once(const std::function<void()>& enqueue, Queue& queue);

/// A single run, with a note, where that is enough and more would pass the time limit; nothing where they would not.
/// `first` is what a run before took: that one may have been slow because libraries and drivers put much off until
/// they are first used.
[[nodiscard]] std::optional<Measurement> measure_if_slow(const Measurement& first, const std::function<void()>& enqueue,
                                                         Queue& queue, const MeasurementLimits& limits);

}  // namespace tessera::tool
