// The books of a queue: numbers its commands, keeps what they need, and turns the first failure into the queue's error.
#include "queue_core.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "backend/sentence.h"

namespace tessera::detail {
namespace {

using backend::sentence;

/// How many commands can still be named when one fails.
constexpr std::size_t kRemembered = 1024;
/// How many suspects an error lists.
constexpr std::uint64_t kNamedSuspects = 8;
constexpr std::size_t kSmallestKeepLimit = 64;
constexpr std::size_t kKernelsRemembered = 16;

}  // namespace

QueueCore::QueueCore(std::shared_ptr<DeviceCore> device, std::string label)
    : device_(std::move(device)),
      label_(std::move(label)),
      remembered_(kRemembered),
      keep_limit_(kSmallestKeepLimit),
      queue_(device_->device().make_queue()) {}

std::string QueueCore::description() const {
  return sentence("queue ", label_.empty() ? "" : "'" + label_ + "' ", "of ", device_->id());
}

std::uint64_t QueueCore::begin(const Command& command) {
  throw_if_poisoned();
  ++submitted_;
  remembered_[submitted_ % kRemembered] = command;
  queue_->set_command(submitted_);
  return submitted_;
}

void QueueCore::refuse(const Error& error) {
  const Error told = error.while_doing(sentence("queueing ", describe(submitted_), " on ", description()));
  // A refusal leaves the queue as it was; anything else has broken the order of the work.
  if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::unsupported && !poison_) poison_ = told;
  throw told;
}

void QueueCore::poison(const Error& error) noexcept {
  const std::lock_guard lock(mutex_);
  if (poison_) return;
  try {
    poison_ = error.while_doing(sentence("running ", describe(queue_->suspects()), " on ", description()));
  } catch (const std::exception&) {
    poison_ = error;
  }
}

void QueueCore::throw_if_poisoned() const {
  if (poison_) throw Error(*poison_);
}

std::string QueueCore::describe(std::uint64_t sequence) const {
  if (sequence == 0 || sequence > submitted_ || sequence + kRemembered <= submitted_) {
    return sentence("command ", sequence, ", which is no longer remembered");
  }
  const Command& command = remembered_[sequence % kRemembered];
  if (command.subject != nullptr) return sentence("command ", sequence, ", ", command.verb, *command.subject);
  if (command.size_bytes == 0) return sentence("command ", sequence, ", ", command.verb);
  return sentence("command ", sequence, ", ", command.verb, command.size_bytes, " bytes");
}

std::string QueueCore::describe(const backend::Suspects& suspects) const {
  const std::uint64_t first = std::max<std::uint64_t>(suspects.first, 1);
  const std::uint64_t last = std::min(suspects.last, submitted_);
  if (first > last) return "none of its commands: the fault comes from another queue of the device";
  if (first == last) return describe(last);
  std::string text = sentence("one of the commands ", first, " to ", last, ":");
  for (std::uint64_t i = first; i <= last && i < first + kNamedSuspects; ++i) text += " (" + describe(i) + ")";
  return text;
}

backend::Slice QueueCore::workspace(std::size_t size_bytes) {
  if (size_bytes == 0) return {};
  if (workspace_ == nullptr || workspace_->size_bytes() < size_bytes) {
    if (workspace_ != nullptr) workspace_->note_use(shared_from_this(), submitted_);
    workspace_.reset();  // before the larger one is taken: both at once may not fit
    workspace_ = device_->allocate(size_bytes, sentence("workspace of ", description()));
  }
  return {&workspace_->buffer(), 0, workspace_->size_bytes()};
}

void QueueCore::keep(std::shared_ptr<void> object) {
  if (object == nullptr) return;
  std::vector<Kept> released;
  const std::lock_guard lock(mutex_);
  kept_.push_back({std::move(object), submitted_});
  if (kept_.size() < keep_limit_) return;
  (void)poll_fence(kept_.front().sequence);
  released = take_released();
  keep_limit_ = std::max(kSmallestKeepLimit, 2 * kept_.size());
}

void QueueCore::keep(const std::shared_ptr<KernelCore>& kernel) {
  std::shared_ptr<KernelCore> oldest;
  std::uint64_t oldest_sequence = 0;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [known, sequence] : kernels_) {
      if (known == kernel) {
        sequence = submitted_;
        return;
      }
    }
    kernels_.emplace_back(kernel, submitted_);
    if (kernels_.size() <= kKernelsRemembered) return;
    std::tie(oldest, oldest_sequence) = std::move(kernels_.front());
    kernels_.erase(kernels_.begin());
  }
  keep(std::shared_ptr<void>(std::move(oldest)));
}

std::vector<QueueCore::Kept> QueueCore::take_released() {
  const auto first =
      std::stable_partition(kept_.begin(), kept_.end(), [&](const Kept& kept) { return !is_past(kept.sequence); });
  std::vector<Kept> released(std::make_move_iterator(first), std::make_move_iterator(kept_.end()));
  kept_.erase(first, kept_.end());
  return released;
}

std::pair<std::unique_ptr<backend::Event>, std::uint64_t> QueueCore::record() {
  const std::lock_guard lock(mutex_);
  throw_if_poisoned();
  return {queue_->record(), submitted_};
}

void QueueCore::wait(backend::Event& event) {
  const std::lock_guard lock(mutex_);
  (void)begin({"waiting for an event", nullptr, 0});
  queue_->wait(event);
}

void QueueCore::finish() {
  std::uint64_t sequence = 0;
  {
    const std::lock_guard lock(mutex_);
    throw_if_poisoned();
    sequence = submitted_;
  }
  // Without the lock: what runs on the queue may itself give memory back or take some.
  guarded([&] { queue_->finish(); });
  note_past(sequence);
}

void QueueCore::drain() noexcept {
  try {
    finish();
  } catch (const std::exception&) {
    // Queue's destructor reports nothing; finish() would have.
    note_past(submitted_);
  }
}

void QueueCore::note_past(std::uint64_t sequence) noexcept {
  std::uint64_t known = past_.load();
  while (known < sequence && !past_.compare_exchange_weak(known, sequence)) {
  }
  std::vector<Kept> released;
  const std::lock_guard lock(mutex_);
  for (auto& [kernel, last] : kernels_) kept_.push_back({std::move(kernel), last});
  kernels_.clear();
  released = take_released();
}

bool QueueCore::poll_fence(std::uint64_t sequence) {
  if (is_past(sequence)) return true;
  try {
    if (fence_ == nullptr || (fence_sequence_ < sequence && fence_->is_done())) {
      fence_ = queue_->record();
      fence_sequence_ = submitted_;
    }
    if (!fence_->is_done()) return false;
  } catch (const Error&) {
    // A failed queue runs nothing any more, so nothing uses the memory; the failure is told by the next wait.
    past_ = submitted_;
    return true;
  }
  past_ = std::max(past_.load(), fence_sequence_);
  fence_.reset();
  return is_past(sequence);
}

bool QueueCore::poll_past(std::uint64_t sequence) noexcept {
  if (is_past(sequence)) return true;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && poll_fence(sequence);
}

bool QueueCore::wait_until_past(std::uint64_t sequence) noexcept {
  if (is_past(sequence)) return true;
  try {
    queue_->finish();
  } catch (const Error&) {
    // As in poll_fence().
  }
  past_ = std::max(past_.load(), sequence);
  return true;
}

}  // namespace tessera::detail
