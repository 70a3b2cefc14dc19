// The process in which jobs are measured. It keeps devices open, and the operands of the last problem.
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "tools/bench/benchmark.h"
#include "tools/bench/measuring_process.h"
#include "tools/bench/measuring_request.h"
#include "tools/bench/settle.h"
#include "tools/command.h"
#include "tools/typed_problems.h"

namespace tessera::tool {

namespace {

/// OpenBLAS's threads, which spin longest of those known, do so for 120 ms.
constexpr double kLongestRest_s = 0.5;

class Server {
 public:
  [[nodiscard]] Json answer(const MeasuringRequest& request) {
    if (!problems_ || request.selection.operator_name != asked_.operator_name ||
        request.selection.problems != asked_.problems) {
      // In this order: the operands point to the old problem.
      if (benchmark_) benchmark_->forget_operands();
      problems_.emplace(request.selection);
      asked_ = request.selection;
    }
    if (!benchmark_) benchmark_.emplace(request.limits);
    const Job job = job_of(request);
    return to_json(benchmark_->run(job, Peaks(), request.limits));
  }

 private:
  const OpenDevice& device(const std::string& name) {
    OpenDevices& opened = devices_[name];
    if (opened.list.empty()) opened = open_devices({name}, std::cerr);
    return opened.list.front();
  }

  [[nodiscard]] Job job_of(const MeasuringRequest& request) {
    // Neither is a copy: records and operands point to them.
    const OpenDevice& where = device(request.selection.devices.front());
    const conformance::Case* const problem = problems_->typed().front();
    const auto& sets = conformance::problem_sets();
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const conformance::ProblemSet& one) {
      return one.operator_name == request.selection.operator_name;
    });
    return {.device = &where,
            .set = &*set,
            .problem = problem,
            .variant = request.variant,
            .typed = request.selection.problems.front(),
            .tuning = request.tuning};
  }

  Selection asked_;
  std::optional<SelectedProblems> problems_;
  std::map<std::string, OpenDevices> devices_;
  std::optional<Benchmark> benchmark_;
};

}  // namespace

int serve_measurements() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int replies = dup(STDOUT_FILENO);
  if (replies < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kExitFailure;
  Server server;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string answer =
        server.answer(request_of(line)).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    settle(kLongestRest_s);
    for (std::size_t done = 0; done < answer.size();) {
      const ssize_t count = write(replies, answer.data() + done, answer.size() - done);
      if (count <= 0) return kExitFailure;
      done += static_cast<std::size_t>(count);
    }
  }
  close(replies);
  return kExitSuccess;
}

}  // namespace tessera::tool
