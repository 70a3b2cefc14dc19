// Asks the system which threads of this process run, or would if they had a processor. Libraries do not tell that their
// threads still spin: OpenBLAS's do for 120 ms after a call, those of GCC's OpenMP for 4 ms (libopenblas0-pthread
// 0.3.21, libgomp 12). Environment variables can forbid spinning, but make the libraries slower: with
// OMP_WAIT_POLICY=passive oneDNN takes 162 us instead of 95 us for 256 x 256 x 256 on two cores of a Xeon.
#include "tools/bench/settle.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace tessera::tool {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenLooks = std::chrono::milliseconds(1);
/// All must rest so many looks in a row: a thread that wakes for a moment may be missed by one look.
constexpr int kLooks = 2;
constexpr double kLongest_s = 0.5;
/// How long to wait still where threads of this process never rest, as some driver's may.
constexpr double kLongestIfRestless_s = 0.005;
constexpr int kRestless = 3;

/// "1234 (name) R ...": the name may hold anything, so the state is looked for from the end.
bool wants_a_processor(const std::filesystem::path& thread) {
  std::ifstream file(thread / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end != std::string::npos && line.compare(name_end + 2, 1, "R") == 0;
}

bool others_rest() {
  const std::string caller = std::to_string(gettid());
  std::error_code error;
  for (std::filesystem::directory_iterator thread("/proc/self/task", error), end; !error && thread != end;
       thread.increment(error)) {
    if (thread->path().filename() != caller && wants_a_processor(thread->path())) return false;
  }
  return true;
}

}  // namespace

bool settle(double limit_s) {
  const auto start = Clock::now();
  for (int looks = 0;;) {
    looks = others_rest() ? looks + 1 : 0;
    if (looks == kLooks) return true;
    if (std::chrono::duration<double>(Clock::now() - start).count() >= limit_s) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

bool Rest::wait() {
  const bool at_rest = settle(failures_ < kRestless ? kLongest_s : kLongestIfRestless_s);
  failures_ = at_rest ? 0 : failures_ + 1;
  return at_rest;
}

}  // namespace tessera::tool
