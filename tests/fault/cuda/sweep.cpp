// A walk through the scenario once for every call of the driver that it makes, each in a process of its own in which
// that call fails, or it and all calls after it:
//
//     tessera_fault_cuda_sweep CODE once|for_good [FIRST [LAST [STEP]]]
//
// The walk must end right or with tessera::Error, and a second one in the same process, without faults, must be right.
// At its end no object of the driver's may be left but those whose release failed; where nothing could be released any
// more, because every call failed, the second walk must leave none of its own.
#include <sys/wait.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "fault/cuda/cuda_steps.h"
#include "fault/cuda/plugin.h"

namespace {

using namespace tessera;
using fault::driver_faults;

/// A walk takes a fraction of a second; the slowest builds, under a sanitizer, some.
constexpr unsigned kMostSeconds = 60;
constexpr int kKernelMicroseconds = 300;

fault::ScenarioReport walk() {
  return fault::run_scenario("cuda:0", fault::cuda_scenario());
}

std::string first_error(const fault::ScenarioReport& report) {
  return report.errors.empty() ? "none" : report.errors.front();
}

/// Commands take a while, so that those queued before the fault still run when it comes.
void slow_down() {
  if (fault::fake_card() != nullptr) fault::fake_card()->set_kernel_us(kKernelMicroseconds);
}

void put_plan(long first, long last, int code) {
  const std::string text = std::to_string(first) + ":" + std::to_string(last) + ":" + std::to_string(code);
  setenv(fault::kFaultsVariable, text.c_str(), 1);
}

/// How many calls the walk makes, from the opening of the driver on; -1 if it is not right even without a fault.
long count_calls() {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    slow_down();
    const fault::ScenarioReport report = walk();
    if (!report.is_right()) std::printf("without a fault: %s\n", report.text().c_str());
    const long calls = report.is_right() ? driver_faults().calls() : -1;
    const bool written = write(ends[1], &calls, sizeof(calls)) == static_cast<ssize_t>(sizeof(calls));
    std::fflush(stdout);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  long calls = -1;
  if (read(ends[0], &calls, sizeof(calls)) != static_cast<ssize_t>(sizeof(calls))) calls = -1;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return calls;
}

/// The walk with this call failing, then a healthy one. Returns 0 if all is well. To be called in a process of its own.
int walk_with_fault(long call, bool for_good) {
  alarm(kMostSeconds);
  slow_down();
  const fault::ScenarioReport faulted = walk();
  const long left_at_first = for_good ? driver_faults().objects() : 0;
  driver_faults().plan({});
  int status = 0;
  const auto complain = [&](const std::string& what) {
    std::printf("call %ld: %s\n", call, what.c_str());
    status = 1;
  };
  if (!faulted.is_honest()) complain(faulted.text());
  // A backend whose probe() failed stays unavailable in this process, so the second walk need not succeed then.
  const bool is_probed = faulted.right + faulted.errors.size() > 1 || faulted.errors.empty();
  const fault::ScenarioReport healthy = walk();
  if (!healthy.is_honest()) complain("afterwards, " + healthy.text());
  if (!healthy.errors.empty() && is_probed) complain("the library does not recover: " + first_error(healthy));
  const long may_be_left = std::max(left_at_first, driver_faults().refused_releases());
  if (driver_faults().objects() > may_be_left) {
    complain(std::string("objects are left: ") + driver_faults().describe_objects() +
             "; first error: " + first_error(faulted));
  }
  if (fault::fake_card() != nullptr && fault::fake_card()->misuses() > 0) {
    complain("the driver is misused; first error: " + first_error(faulted));
  }
  std::fflush(stdout);
  return status;
}

/// Waits for one child; true if it ended well.
bool reap(std::map<pid_t, long>& running) {
  int status = 0;
  const pid_t child = wait(&status);
  const auto place = running.find(child);
  if (place == running.end()) return false;
  const long call = place->second;
  running.erase(place);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFSIGNALED(status)) {
    std::printf("call %ld: %s\n", call,
                WTERMSIG(status) == SIGALRM ? "the walk does not end" : strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 1) {
    std::printf("call %ld: exit status %d\n", call, WEXITSTATUS(status));
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const int code = argc > 2 ? std::atoi(argv[1]) : 0;
  const bool for_good = argc > 2 && std::strcmp(argv[2], "for_good") == 0;
  if (code <= 0 || (!for_good && std::strcmp(argv[2], "once") != 0)) {
    std::fprintf(stderr, "usage: tessera_fault_cuda_sweep CODE once|for_good [FIRST [LAST [STEP]]]\n");
    return 2;
  }
  std::fflush(stdout);
  const long calls = count_calls();
  if (calls <= 0) {
    std::printf("the walk fails without a fault\n");
    return 1;
  }
  const long first = argc > 3 ? std::atol(argv[3]) : 1;
  const long last = std::min(calls, argc > 4 ? std::atol(argv[4]) : calls);
  const long step = argc > 5 ? std::atol(argv[5]) : 1;
  if (first < 1 || step < 1) {
    std::fprintf(stderr, "tessera_fault_cuda_sweep: calls are counted from 1, in steps of 1 and more\n");
    return 2;
  }
  const auto most = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  std::map<pid_t, long> running;
  long bad = 0;
  for (long call = first; call <= last; call += step) {
    if (running.size() >= most && !reap(running)) ++bad;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      put_plan(call, for_good ? LONG_MAX : call, code);
      _exit(walk_with_fault(call, for_good));
    }
    if (child < 0) return 2;
    running[child] = call;
  }
  while (!running.empty()) {
    if (!reap(running)) ++bad;
  }
  std::printf("%ld of the calls %ld to %ld of %ld, in steps of %ld, end badly with code %d %s\n", bad, first, last,
              calls, step, code, argv[2]);
  return bad == 0 ? 0 : 1;
}
