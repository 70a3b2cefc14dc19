// Commands in order on a worker thread. The caller pays one lock that the worker never takes and, if the worker
// sleeps, one wake-up.
#include "cpu_tbb_queue.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <utility>

#include "cpu_tbb_buffer.h"
#include "cpu_tbb_error.h"
#include "cpu_tbb_loop_turn.h"
#include "cpu_tbb_spin.h"
#include "cpu_tbb_thread.h"

namespace tessera::cpu_tbb {

namespace {

/// One chunk of a copy or fill: long enough that handing it to a thread costs nothing beside it.
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

std::int64_t chunks_of(std::size_t size_bytes) {
  return static_cast<std::int64_t>((size_bytes + kChunkBytes - 1) / kChunkBytes);
}

/// Calls part(offset, length) for the bytes of chunks [first, last).
template <class Part>
void for_bytes(std::int64_t first, std::int64_t last, std::size_t size_bytes, Part&& part) {
  const std::size_t begin = static_cast<std::size_t>(first) * kChunkBytes;
  part(begin, std::min(static_cast<std::size_t>(last) * kChunkBytes, size_bytes) - begin);
}

void copy_bytes(Executor& executor, std::byte* destination, const std::byte* source, std::size_t size_bytes) {
  executor.parallel_for(chunks_of(size_bytes), [=](std::int64_t first, std::int64_t last) {
    for_bytes(first, last, size_bytes, [=](std::size_t offset, std::size_t length) {
      std::memcpy(destination + offset, source + offset, length);
    });
  });
}

template <class Element>
void fill_elements(Executor& executor, std::byte* destination, std::size_t size_bytes, const std::byte* pattern) {
  Element value;
  std::memcpy(&value, pattern, sizeof(Element));
  executor.parallel_for(chunks_of(size_bytes), [=](std::int64_t first, std::int64_t last) {
    for_bytes(first, last, size_bytes, [=](std::size_t offset, std::size_t length) {
      std::fill_n(reinterpret_cast<Element*>(destination + offset), length / sizeof(Element), value);
    });
  });
}

}  // namespace

CpuTbbQueue::CpuTbbQueue(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {
  static_cast<void>(no_memory_left());  // makes that Error now: the worker may need it when there is no memory
  try {
    worker_ = start_thread([this] { serve(); });
  } catch (const std::system_error& error) {
    throw system_error(ErrorCode::unavailable, "the system gives no thread for another queue", error.code().value());
  }
}

CpuTbbQueue::~CpuTbbQueue() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  worker_.join();
}

void CpuTbbQueue::upload(const backend::Slice& destination, const void* host) {
  submit([to = address_of(destination), from = static_cast<const std::byte*>(host),
          size_bytes = destination.size_bytes](Executor& executor) { copy_bytes(executor, to, from, size_bytes); });
}

void CpuTbbQueue::download(void* host, const backend::Slice& source) {
  submit([to = static_cast<std::byte*>(host), from = address_of(source),
          size_bytes = source.size_bytes](Executor& executor) { copy_bytes(executor, to, from, size_bytes); });
}

void CpuTbbQueue::copy(const backend::Slice& destination, const backend::Slice& source) {
  submit([to = address_of(destination), from = address_of(source), size_bytes = source.size_bytes](Executor& executor) {
    copy_bytes(executor, to, from, size_bytes);
  });
}

void CpuTbbQueue::fill(const backend::Slice& destination, std::span<const std::byte> pattern) {
  std::array<std::byte, 8> value{};
  std::ranges::copy(pattern, value.begin());
  submit([to = address_of(destination), size_bytes = destination.size_bytes, value,
          length = pattern.size()](Executor& executor) {
    switch (length) {
      case 1: return fill_elements<std::uint8_t>(executor, to, size_bytes, value.data());
      case 2: return fill_elements<std::uint16_t>(executor, to, size_bytes, value.data());
      case 4: return fill_elements<std::uint32_t>(executor, to, size_bytes, value.data());
      default: return fill_elements<std::uint64_t>(executor, to, size_bytes, value.data());
    }
  });
}

std::unique_ptr<backend::Event> CpuTbbQueue::record() {
  return or_no_memory([&] {
    auto state = std::make_shared<EventState>();
    auto event = std::make_unique<CpuTbbEvent>(state);
    put([this, state = std::move(state)](Executor&) { state->complete(failure_); }, true);
    return event;
  });
}

void CpuTbbQueue::wait(backend::Event& event) {
  submit([state = static_cast<CpuTbbEvent&>(event).state()](Executor&) { state->wait(); });
}

void CpuTbbQueue::finish() {
  wait_for_all();
  const std::lock_guard lock(mutex_);
  if (failure_) throw Error(*failure_);
}

bool CpuTbbQueue::drain() noexcept {
  wait_for_all();
  return true;
}

backend::Suspects CpuTbbQueue::suspects() const {
  const std::lock_guard lock(mutex_);
  return {failed_command_, failed_command_};
}

void CpuTbbQueue::wake_worker() noexcept {
  // The worker says that it sleeps, then looks at the count of commands; a thread counts its command, then looks
  // whether the worker sleeps. All four are sequentially consistent, so at least one of the two sees the other.
  if (!asleep_.load()) return;
  { const std::lock_guard lock(mutex_); }  // between its look and its sleep the worker holds the mutex
  changed_.notify_one();
}

void CpuTbbQueue::wait_for_all() noexcept {
  const std::uint64_t pushed = commands_.count();
  const auto done = [&] { return executed_.load() >= pushed; };
  if (spin_until(done)) return;
  const WaitInsideLoop waiting;
  std::unique_lock lock(mutex_);
  for (;;) {
    awaited_.store(std::min(awaited_.load(), pushed));
    if (done()) return;
    executed_changed_.wait(lock);
  }
}

void CpuTbbQueue::serve() noexcept {
  while (wait_for_command()) {
    execute(commands_.next());
    commands_.drop();  // lets go of what the command kept alive
    note_executed();
  }
}

bool CpuTbbQueue::wait_for_command() noexcept {
  if (commands_.has_next() || spin_until([this] { return commands_.has_next() || closing_.load(); }))
    return commands_.has_next();
  std::unique_lock lock(mutex_);
  asleep_ = true;
  changed_.wait(lock, [this] { return commands_.has_next() || closing_.load(); });
  asleep_ = false;
  return commands_.has_next();
}

void CpuTbbQueue::execute(Command& command) noexcept {
  if (failure_ && !command.even_if_poisoned) return;
  try {
    command.run(*executor_);
  } catch (...) {
    const Error error = translate(std::current_exception(), "a command of a CPU queue");
    const std::lock_guard lock(mutex_);
    failure_ = error;
    failed_command_ = command.number;
  }
}

void CpuTbbQueue::note_executed() noexcept {
  // The worker counts, then looks which count is waited for; a waiter says which, then looks at the count. All four are
  // sequentially consistent, so at least one of the two sees the other, and no waiter sleeps on. A waiter that is woken
  // too early, by the count of another, says its own again.
  const std::uint64_t executed = executed_.fetch_add(1) + 1;
  if (executed < awaited_.load()) return;
  const std::lock_guard lock(mutex_);
  awaited_.store(kNothingAwaited);
  executed_changed_.notify_all();
}

}  // namespace tessera::cpu_tbb
