// Commands in order on a worker thread. The caller pays one lock and, if the worker sleeps, one wake-up.
#include "cpu_tbb_queue.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <utility>

#include "cpu_tbb_buffer.h"
#include "cpu_tbb_error.h"
#include "cpu_tbb_spin.h"

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
  try {
    worker_ = std::thread([this] { serve(); });
  } catch (const std::system_error& error) {
    throw system_error(ErrorCode::unavailable, "the system gives no thread for another queue", error.code().value());
  }
}

CpuTbbQueue::~CpuTbbQueue() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    has_pending_.store(true, std::memory_order_relaxed);
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

std::shared_ptr<EventState> CpuTbbQueue::record_state() {
  auto state = std::make_shared<EventState>();
  push({command(), true, [this, state](Executor&) { state->complete(failure_); }});
  return state;
}

std::unique_ptr<backend::Event> CpuTbbQueue::record() {
  return std::make_unique<CpuTbbEvent>(record_state());
}

void CpuTbbQueue::wait(backend::Event& event) {
  submit([state = static_cast<CpuTbbEvent&>(event).state()](Executor&) { state->wait(); });
}

void CpuTbbQueue::finish() {
  record_state()->wait();
}

bool CpuTbbQueue::drain() noexcept {
  try {
    finish();
  } catch (const Error&) {
    // The worker tells events of the failure once it is past everything before them.
  }
  return true;
}

backend::Suspects CpuTbbQueue::suspects() const {
  const std::lock_guard lock(mutex_);
  return {failed_command_, failed_command_};
}

void CpuTbbQueue::push(Command command) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    pending_.push_back(std::move(command));
    has_pending_.store(true, std::memory_order_relaxed);
    wake = asleep_;
  }
  if (wake) changed_.notify_one();
}

void CpuTbbQueue::serve() noexcept {
  std::vector<Command> batch;
  while (take_pending(batch)) {
    for (Command& command : batch) execute(command);
    batch.clear();
  }
}

bool CpuTbbQueue::take_pending(std::vector<Command>& batch) {
  static_cast<void>(spin_until([this] { return has_pending_.load(std::memory_order_relaxed); }));
  std::unique_lock lock(mutex_);
  asleep_ = true;
  changed_.wait(lock, [this] { return !pending_.empty() || closing_; });
  asleep_ = false;
  has_pending_.store(closing_, std::memory_order_relaxed);
  batch.swap(pending_);
  return !batch.empty();
}

void CpuTbbQueue::execute(Command& command) noexcept {
  if (!failure_ || command.even_if_poisoned) {
    try {
      command.work(*executor_);
    } catch (...) {
      const Error error = translate(std::current_exception(), "a command of a CPU queue");
      const std::lock_guard lock(mutex_);
      failure_ = error;
      failed_command_ = command.number;
    }
  }
  command.work = nullptr;  // lets go of what it kept alive
}

}  // namespace tessera::cpu_tbb
