// The table of functions in front of the driver's, made from the list that the backend makes its own of. Built into the
// plug-in for tests alone, which finds it as wrap_functions().
#include "opencl/opencl_faults.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/shared_library.h"
#include "opencl_api.h"

namespace tessera::fault {

namespace {

using opencl::OpenclApi;

/// The driver's own functions; never destroyed.
OpenclApi& real() {
  static auto& table = *new OpenclApi;
  return table;
}

/// What a function makes, by its name; "" for none. Events are made by whoever is given a place for one.
std::string_view made_by(std::string_view function) {
  if (!function.starts_with("clCreate")) return "";
  for (const std::string_view kind : {"Context", "CommandQueue", "Program", "Kernel"}) {
    if (function.substr(8).starts_with(kind)) return kind;
  }
  return "MemObject";
}
/// What a function ends.
std::string_view ended_by(std::string_view function) {
  return function.starts_with("clRelease") ? function.substr(9) : "";
}

bool works_on_device(std::string_view function) {
  return !function.starts_with("clGetPlatform") && !function.starts_with("clGetDevice") &&
         !function.starts_with("clRelease");
}

class Faults final : public OpenclFaults {
 public:
  void fail_call(long number, int code, bool for_good) override {
    const std::lock_guard lock(mutex_);
    forget_counts();
    fails_at_ = number;
    fails_with_ = code;
    for_good_ = for_good;
  }
  void fail_function(std::string_view function, int code, long first, long count) override {
    const std::lock_guard lock(mutex_);
    forget_counts();
    const long calls = calls_of_[std::string(function)];
    failing_.insert_or_assign(std::string(function),
                              Failing{code, calls + first, count == 0 ? 0 : calls + first + count});
  }
  void delay_function(std::string_view function, int milliseconds) override {
    const std::lock_guard lock(mutex_);
    forget_counts();
    delays_.insert_or_assign(std::string(function), milliseconds);
  }
  void delay_blocking_writes(int milliseconds) override {
    const std::lock_guard lock(mutex_);
    forget_counts();
    write_delay_ms_ = milliseconds;
  }
  void lose_device() override {
    std::set<cl_command_queue> queues;
    {
      const std::lock_guard lock(mutex_);
      forget_counts();
      is_lost_ = true;
      for (const auto& [queue, commands] : queues_) queues.insert(queue);
    }
    for (const cl_command_queue queue : queues) static_cast<void>(real().clFinish(queue));
  }
  void clear() override {
    const std::lock_guard lock(mutex_);
    forget_counts();
    fails_at_ = 0;
    failing_.clear();
    delays_.clear();
    write_delay_ms_ = 0;
    is_lost_ = false;
  }

  [[nodiscard]] long calls() const override { return locked(calls_); }
  [[nodiscard]] long failures() const override { return locked(failures_); }
  [[nodiscard]] std::string last_failed() const override { return locked(last_failed_); }
  [[nodiscard]] long calls_of(std::string_view function) const override {
    const std::lock_guard lock(mutex_);
    const auto found = calls_of_.find(function);
    return found == calls_of_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::map<std::string, long> alive() const override {
    const std::lock_guard lock(mutex_);
    std::map<std::string, long> some;
    for (const auto& [kind, count] : alive_) {
      if (count != 0) some.emplace(kind, count);
    }
    if (!mapped_.empty()) some.emplace("Mapping", static_cast<long>(mapped_.size()));
    return some;
  }
  [[nodiscard]] long unconfirmed_queues() const override {
    const std::lock_guard lock(mutex_);
    long count = 0;
    for (const auto& [queue, commands] : queues_) count += commands.done < commands.newest ? 1 : 0;
    return count;
  }

  /// The code that a call fails with, or CL_SUCCESS to let it through.
  [[nodiscard]] cl_int before(std::string_view function) {
    int delay_ms = 0;
    cl_int code = CL_SUCCESS;
    {
      const std::lock_guard lock(mutex_);
      const long call_of_it = ++calls_of_[std::string(function)];
      if (function.starts_with("clRelease")) return CL_SUCCESS;
      ++calls_;
      if (const auto found = delays_.find(function); found != delays_.end()) delay_ms = found->second;
      if (fails_at_ > 0 && (for_good_ ? calls_ >= fails_at_ : calls_ == fails_at_)) code = fails_with_;
      if (const auto found = failing_.find(function); found != failing_.end()) {
        const Failing& failing = found->second;
        if (call_of_it >= failing.first && (failing.end == 0 || call_of_it < failing.end)) code = failing.code;
      }
      if (is_lost_ && works_on_device(function)) code = CL_INVALID_COMMAND_QUEUE;
      if (code != CL_SUCCESS) {
        ++failures_;
        last_failed_ = function;
      }
    }
    if (delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    return code;
  }

  void made(std::string_view kind) {
    const std::lock_guard lock(mutex_);
    ++alive_[std::string(kind)];
  }
  void ended(std::string_view kind) {
    const std::lock_guard lock(mutex_);
    --alive_[kind == "Event" ? "event" : std::string(kind)];
  }
  void queue_lives(cl_command_queue queue, bool lives) {
    const std::lock_guard lock(mutex_);
    lives ? static_cast<void>(queues_.insert_or_assign(queue, Commands{})) : static_cast<void>(queues_.erase(queue));
  }
  void queue_takes(cl_command_queue queue) {
    const std::lock_guard lock(mutex_);
    ++queues_[queue].newest;
  }
  void queue_is_finished(cl_command_queue queue) {
    const std::lock_guard lock(mutex_);
    queues_[queue].done = queues_[queue].newest;
  }
  /// An event of a queue's newest command; and that the driver has said that it is done.
  void event_of(cl_event event, cl_command_queue queue) {
    const std::lock_guard lock(mutex_);
    events_.insert_or_assign(event, std::pair{queue, queues_[queue].newest});
  }
  void event_is_done(cl_event event) {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(event);
    if (found == events_.end()) return;
    if (const auto queue = queues_.find(found->second.first); queue != queues_.end()) {
      queue->second.done = std::max(queue->second.done, found->second.second);
    }
  }
  void mapped(cl_mem memory, bool is_mapped) {
    const std::lock_guard lock(mutex_);
    is_mapped ? static_cast<void>(mapped_.insert(memory)) : static_cast<void>(mapped_.erase(memory));
  }
  [[nodiscard]] int write_delay_ms() const { return locked(write_delay_ms_); }

 private:
  void forget_counts() {
    calls_ = 0;
    failures_ = 0;
    last_failed_.clear();
  }
  template <class Value>
  [[nodiscard]] Value locked(const Value& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  long fails_at_ = 0;  ///< 0: none
  cl_int fails_with_ = CL_SUCCESS;
  bool for_good_ = false;
  struct Failing {
    cl_int code = CL_SUCCESS;
    long first = 0;
    long end = 0;  ///< the first one that succeeds again; 0: none
  };
  std::map<std::string, Failing, std::less<>> failing_;
  std::map<std::string, int, std::less<>> delays_;
  int write_delay_ms_ = 0;
  bool is_lost_ = false;
  long calls_ = 0;
  long failures_ = 0;
  std::string last_failed_;
  std::map<std::string, long, std::less<>> calls_of_;
  std::map<std::string, long> alive_;
  struct Commands {
    long newest = 0;
    long done = 0;  ///< as far as the driver has told
  };
  std::map<cl_command_queue, Commands> queues_;
  std::map<cl_event, std::pair<cl_command_queue, long>> events_;
  std::set<cl_mem> mapped_;  ///< until it is unmapped, or released as it is
};

/// Never destroyed: queues may still run while static objects die.
Faults& faults() {
  static auto& made = *new Faults;
  return made;
}

/// A write that blocks as little as the standard allows: the bytes are copied, and written behind an event that a
/// thread sets later.
cl_int write_late(int delay_ms, cl_command_queue queue, cl_mem memory, std::size_t offset, std::size_t size,
                  const void* host) {
  static const backend::SharedLibrary loader({real().loader()});
  static decltype(&::clCreateUserEvent) create = nullptr;
  static decltype(&::clSetUserEventStatus) set = nullptr;
  static decltype(&::clGetCommandQueueInfo) ask = nullptr;
  static const bool is_there = loader.function(create, "clCreateUserEvent") &&
                               loader.function(set, "clSetUserEventStatus") &&
                               loader.function(ask, "clGetCommandQueueInfo");
  if (!is_there) std::abort();
  cl_context context = nullptr;
  cl_int code = ask(queue, CL_QUEUE_CONTEXT, sizeof(context), static_cast<void*>(&context), nullptr);
  cl_event gate = create(context, &code);
  const auto* bytes = static_cast<const char*>(host);
  auto copy = std::make_shared<std::vector<char>>(bytes, bytes + size);
  cl_event written = nullptr;
  code = real().clEnqueueWriteBuffer(queue, memory, CL_FALSE, offset, size, copy->data(), 1, &gate, &written);
  if (code != CL_SUCCESS) std::abort();
  static_cast<void>(real().clFlush(queue));
  std::thread([=, kept = std::move(copy)] {
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    static_cast<void>(set(gate, CL_COMPLETE));
    static_cast<void>(real().clWaitForEvents(1, &written));
    static_cast<void>(real().clReleaseEvent(written));
    static_cast<void>(real().clReleaseEvent(gate));
  }).detach();
  return CL_SUCCESS;
}

template <class... Args>
void notice(std::string_view function, const Args&... args) {
  const auto all = std::tie(args...);
  const auto& first = std::get<0>(all);
  const auto& last = std::get<sizeof...(Args) - 1>(all);
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(last)>, cl_event*>) {
    if (last != nullptr) faults().made("event");
  }
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(first)>, cl_command_queue>) {
    if (function == "clReleaseCommandQueue") {
      faults().queue_lives(first, false);
    } else if (function == "clFinish") {
      faults().queue_is_finished(first);
    } else if (function != "clFlush") {
      faults().queue_takes(first);
    }
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(last)>, cl_event*>) {
      if (last != nullptr) faults().event_of(*last, first);
    }
  }
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(last)>, const cl_event*>) {
    if (function == "clWaitForEvents") faults().event_is_done(*last);
  }
  if (function == "clReleaseMemObject") {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(first)>, cl_mem>) faults().mapped(first, false);
  }
  if constexpr (sizeof...(Args) > 1) {
    const auto& second = std::get<1>(all);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(second)>, cl_mem>) {
      if (function == "clEnqueueMapBuffer") faults().mapped(second, true);
      if (function == "clEnqueueUnmapMemObject") faults().mapped(second, false);
    }
  }
  if (const std::string_view kind = made_by(function); !kind.empty()) faults().made(kind);
  if (const std::string_view kind = ended_by(function); !kind.empty()) faults().ended(kind);
}

/// A function of the table as a type, to be compared.
template <auto kMember>
struct Member {};

/// One function of the table: `kMember` of OpenclApi, of this type.
template <auto kMember, class Function>
struct Wrapped;
template <auto kMember, class Result, class... Args>
struct Wrapped<kMember, Result (*)(Args...)> {
  static inline const char* name = "";

  static Result CL_API_CALL call(Args... args) {
    if (const cl_int code = faults().before(name); code != CL_SUCCESS) return refused(code, args...);
    if constexpr (std::is_same_v<Result, cl_int>) {
      const cl_int code = through(args...);
      if (code == CL_SUCCESS) notice(name, args...);
      return code;
    } else {
      const Result made = (real().*kMember)(args...);
      if (made != nullptr) notice(name, args...);
      if constexpr (std::is_same_v<Result, cl_command_queue>) {
        if (made != nullptr) faults().queue_lives(made, true);
      }
      return made;
    }
  }

 private:
  static cl_int through(Args... args) {
    if constexpr (std::is_same_v<Member<kMember>, Member<&OpenclApi::clEnqueueWriteBuffer>>) {
      const auto& [queue, memory, blocks, offset, size, host, count, list, event] = std::tie(args...);
      const int delay_ms = faults().write_delay_ms();
      if (blocks == CL_TRUE && delay_ms > 0) return write_late(delay_ms, queue, memory, offset, size, host);
    }
    return (real().*kMember)(args...);
  }
  /// Answers with the code, or gives nothing and leaves the code where the last parameter points to.
  static Result refused(cl_int code, Args... args) {
    if constexpr (std::is_same_v<Result, cl_int>) {
      static_cast<void>(std::tie(args...));
      return code;
    } else {
      cl_int* const place = std::get<sizeof...(Args) - 1>(std::tie(args...));
      if (place != nullptr) *place = code;
      return nullptr;
    }
  }
};

void take_variable() {
  const char* text = std::getenv(kOpenclFaultsVariable);
  if (text == nullptr) return;
  long number = 0;
  int code = 0;
  if (std::sscanf(text, "%ld:%d", &number, &code) == 2) {
    faults().fail_call(number, code, std::strstr(text, "for_good") != nullptr);
  }
}

}  // namespace

}  // namespace tessera::fault

namespace tessera::opencl {

void wrap_functions(OpenclApi& api) {
  fault::real() = api;
#define TESSERA_OPENCL_WRAP(function)                                             \
  {                                                                               \
    using Wrapper = fault::Wrapped<&OpenclApi::function, decltype(api.function)>; \
    Wrapper::name = #function;                                                    \
    api.function = &Wrapper::call;                                                \
  }
  TESSERA_OPENCL_FUNCTIONS(TESSERA_OPENCL_WRAP)
#undef TESSERA_OPENCL_WRAP
  fault::take_variable();
}

}  // namespace tessera::opencl

extern "C" [[gnu::visibility("default")]] tessera::fault::OpenclFaults* tessera_opencl_faults() {
  return &tessera::fault::faults();
}
