// Measuring in processes of their own, which take turns: the threads of one library, that spin for a while in case that
// more work comes, would halve the speed of another one in the same process. Each process lives until the end, sleeps
// while others run, and answers when its own threads are at rest.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/measurement.h"
#include "tools/input/json_reading.h"
#include "tools/selection.h"

namespace tessera::tool {

/// Who measures a job; the record as result files hold it.
class Measurer {
 public:
  virtual ~Measurer() = default;
  /// `rival_s` is what the fastest of its kind took so far, 0 if there is none: see MeasurementLimits. Throws
  /// Interrupted at Ctrl-C. Whatever else goes wrong is the record's status and reason.
  [[nodiscard]] virtual Json measure(const Job& job, double rival_s) = 0;
};

/// What the subcommand line of such a process is: `tessera bench --measuring-process`.
inline constexpr const char* kMeasuringFlag = "--measuring-process";

/// One process.
class MeasuringProcess {
 public:
  /// Starts `program` with `arguments`. Error internal if the system refuses.
  MeasuringProcess(const std::string& program, const std::vector<std::string>& arguments);
  MeasuringProcess(const MeasuringProcess&) = delete;
  MeasuringProcess& operator=(const MeasuringProcess&) = delete;
  /// Ends it at once.
  ~MeasuringProcess();

  /// Sends a line and waits for one. Throws Interrupted at Ctrl-C, and an Error, internal, that says how the process
  /// ended if it did; it is of no more use then.
  [[nodiscard]] std::string ask(const std::string& line);
  [[nodiscard]] pid_t id() const noexcept { return id_; }

 private:
  [[noreturn]] void tell_end();

  pid_t id_ = -1;
  int socket_ = -1;
  std::string received_;
};

/// One process for the library's own variants, which share their operands and what is expected of them, and one for
/// each other library. One that crashed is started anew for the next job.
class MeasuringProcesses : public Measurer {
 public:
  explicit MeasuringProcesses(const MeasurementLimits& limits) : limits_(limits) {}
  [[nodiscard]] Json measure(const Job& job, double rival_s) override;

 private:
  const MeasurementLimits limits_;
  std::map<std::string, std::unique_ptr<MeasuringProcess>> processes_;
};

/// The process's own side: reads jobs from standard input until it ends, and answers on standard output, which
/// libraries that print do not reach. Returns the exit code.
[[nodiscard]] int serve_measurements();

}  // namespace tessera::tool
