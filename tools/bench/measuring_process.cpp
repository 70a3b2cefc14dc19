// A process at the other end of a pair of sockets. It stands in a process group of its own, so that Ctrl-C in a
// terminal reaches the program alone, which then ends it; and the system ends it if the program goes without that.
#include "tools/bench/measuring_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "tools/bench/bench_record.h"
#include "tools/bench/measuring_request.h"
#include "tools/process/interrupt.h"

extern char** environ;

namespace tessera::tool {

namespace {

/// A trace is the program's own file: processes would write over it.
std::vector<char*> environment_without_trace() {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("TESSERA_TRACE=")) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

std::string side_of(const Job& job) {
  return is_vendor(job.variant) ? job.variant : "own";
}

Json failed(const Job& job, std::string reason) {
  BenchRecord record;
  record.job = job;
  record.tuning = job.tuning;
  record.reason = std::move(reason);
  return to_json(record);
}

}  // namespace

MeasuringProcess::MeasuringProcess(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ErrorCode::internal, fmt::format("there is no pair of sockets: {}", std::strerror(errno)));
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> variables = environment_without_trace();

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int refused = posix_spawn(&id_, program.c_str(), &actions, &attributes, argv.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  socket_ = ends[0];
  if (refused == 0) return;
  close(socket_);
  throw Error(ErrorCode::internal,
              fmt::format("a process to measure in does not start: {} ({})", std::strerror(refused), program));
}

MeasuringProcess::~MeasuringProcess() {
  close(socket_);
  if (id_ <= 0) return;
  kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
}

void MeasuringProcess::tell_end() {
  int status = 0;
  kill(id_, SIGKILL);  // one that only closed its socket; no effect on one that ended
  waitpid(id_, &status, 0);
  id_ = -1;
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
    throw Error(ErrorCode::internal, fmt::format("the process that measures it was ended by signal {} ({})",
                                                 WTERMSIG(status), strsignal(WTERMSIG(status))));
  if (WIFEXITED(status))
    throw Error(ErrorCode::internal,
                fmt::format("the process that measures it ended with exit code {}", WEXITSTATUS(status)));
  throw Error(ErrorCode::internal, "the process that measures it was killed, perhaps for lack of memory");
}

std::string MeasuringProcess::ask(const std::string& line) {
  const std::string sent = line + "\n";
  for (std::size_t done = 0; done < sent.size();) {
    const ssize_t count = send(socket_, sent.data() + done, sent.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) tell_end();
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  for (;;) {
    stop_if_interrupted();
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    pollfd look{.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&look, 1, kLookForInterruptMs) <= 0) continue;
    char buffer[4096];
    const ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
    if (count == 0 || (count < 0 && errno != EINTR)) tell_end();
    if (count > 0) received_.append(buffer, static_cast<std::size_t>(count));
  }
}

Json MeasuringProcesses::measure(const Job& job, double rival_s) {
  std::unique_ptr<MeasuringProcess>& process = processes_[side_of(job)];
  try {
    if (process == nullptr)
      process = std::make_unique<MeasuringProcess>("/proc/self/exe", std::vector<std::string>{"bench", kMeasuringFlag});
    MeasurementLimits limits = limits_;
    limits.rival_s = rival_s;
    Json record = Json::parse(process->ask(request_line(job, limits)));
    // What the process cannot know: it is told of one variant alone.
    record["is_default"] = job.is_default;
    return record;
  } catch (const Error& error) {
    process.reset();
    return failed(job, error.sentence());
  } catch (const Json::exception&) {
    process.reset();
    return failed(job, "the process that measures it gives an answer that is no record");
  }
}

}  // namespace tessera::tool
