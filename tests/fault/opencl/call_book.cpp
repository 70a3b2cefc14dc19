// Every entry of the book is read and written under its lock: the library calls drivers from several threads.
#include "opencl/call_book.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tessera::fault {

namespace {

bool works_on_device(std::string_view function) {
  return !function.starts_with("clGetPlatform") && !function.starts_with("clGetDevice") &&
         !function.starts_with("clRelease");
}

}  // namespace

opencl::OpenclApi& real_driver() {
  static auto& table = *new opencl::OpenclApi;
  return table;
}

void CallBook::fail_call(long number, int code, bool for_good) {
  const std::lock_guard lock(mutex_);
  forget_counts();
  fails_at_ = number;
  fails_with_ = code;
  for_good_ = for_good;
}

void CallBook::fail_function(std::string_view function, int code, long first, long count) {
  const std::lock_guard lock(mutex_);
  forget_counts();
  const long calls = calls_of_[std::string(function)];
  failing_.insert_or_assign(std::string(function),
                            Failing{code, calls + first, count == 0 ? 0 : calls + first + count});
}

void CallBook::delay_function(std::string_view function, int milliseconds) {
  const std::lock_guard lock(mutex_);
  forget_counts();
  delays_.insert_or_assign(std::string(function), milliseconds);
}

void CallBook::delay_blocking_writes(int milliseconds) {
  const std::lock_guard lock(mutex_);
  forget_counts();
  write_delay_ms_ = milliseconds;
}

void CallBook::lose_device() {
  std::set<cl_command_queue> queues;
  {
    const std::lock_guard lock(mutex_);
    forget_counts();
    is_lost_ = true;
    for (const auto& [queue, commands] : queues_) queues.insert(queue);
  }
  for (const cl_command_queue queue : queues) static_cast<void>(real_driver().clFinish(queue));
}

void CallBook::clear() {
  const std::lock_guard lock(mutex_);
  forget_counts();
  fails_at_ = 0;
  failing_.clear();
  delays_.clear();
  write_delay_ms_ = 0;
  is_lost_ = false;
}

long CallBook::calls_of(std::string_view function) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_of_.find(function);
  return found == calls_of_.end() ? 0 : found->second;
}

std::map<std::string, long> CallBook::alive() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, long> some;
  for (const auto& [kind, count] : alive_) {
    if (count != 0) some.emplace(kind, count);
  }
  if (!mapped_.empty()) some.emplace("Mapping", static_cast<long>(mapped_.size()));
  return some;
}

long CallBook::unconfirmed_queues() const {
  const std::lock_guard lock(mutex_);
  long count = 0;
  for (const auto& [queue, commands] : queues_) count += commands.done < commands.newest ? 1 : 0;
  return count;
}

cl_int CallBook::before(std::string_view function) {
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

void CallBook::made(std::string_view kind) {
  const std::lock_guard lock(mutex_);
  ++alive_[std::string(kind)];
}

void CallBook::ended(std::string_view kind) {
  const std::lock_guard lock(mutex_);
  --alive_[kind == "Event" ? "event" : std::string(kind)];
}

void CallBook::queue_lives(cl_command_queue queue, bool lives) {
  const std::lock_guard lock(mutex_);
  lives ? static_cast<void>(queues_.insert_or_assign(queue, Commands{})) : static_cast<void>(queues_.erase(queue));
}

void CallBook::queue_takes(cl_command_queue queue) {
  const std::lock_guard lock(mutex_);
  ++queues_[queue].newest;
}

void CallBook::queue_is_finished(cl_command_queue queue) {
  const std::lock_guard lock(mutex_);
  queues_[queue].done = queues_[queue].newest;
}

void CallBook::event_of(cl_event event, cl_command_queue queue) {
  const std::lock_guard lock(mutex_);
  events_.insert_or_assign(event, std::pair{queue, queues_[queue].newest});
}

void CallBook::event_is_done(cl_event event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) return;
  if (const auto queue = queues_.find(found->second.first); queue != queues_.end()) {
    queue->second.done = std::max(queue->second.done, found->second.second);
  }
}

void CallBook::mapped(cl_mem memory, bool is_mapped) {
  const std::lock_guard lock(mutex_);
  is_mapped ? static_cast<void>(mapped_.insert(memory)) : static_cast<void>(mapped_.erase(memory));
}

void CallBook::forget_counts() {
  calls_ = 0;
  failures_ = 0;
  last_failed_.clear();
}

}  // namespace tessera::fault
