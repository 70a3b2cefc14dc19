// The books of a queue: numbers its commands, keeps what they need, and turns the first failure into the queue's error.
// Nothing that a command uses is let go of before the driver says that the command has ended (decision 0012).
#include "queue_core.h"

#include <algorithm>
#include <utility>

namespace tessera::detail {
namespace {

using backend::sentence;

/// How many commands can still be named when one fails.
constexpr std::size_t kRemembered = 1024;
/// How many suspects an error lists.
constexpr std::uint64_t kNamedSuspects = 8;
constexpr std::size_t kSmallestKeepLimit = 64;
constexpr std::size_t kKernelsRemembered = 16;

/// Words that are put together only when they are printed. told() prints them, and copes with a host that has no memory
/// left for words.
template <class Make>
struct Lazily {
  explicit Lazily(Make its_make) : make(std::move(its_make)) {}
  Make make;
  friend std::ostream& operator<<(std::ostream& stream, const Lazily& words) { return stream << words.make(); }
};

/// A refusal leaves the queue as it was; anything else has broken the order of the work.
bool is_refusal(const Error& error) {
  return error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::unsupported;
}

}  // namespace

std::shared_ptr<QueueCore> QueueCore::make(std::shared_ptr<DeviceCore> device, std::string label) {
  device->refuse_elsewhere();
  auto core = std::make_shared<QueueCore>(std::move(device), std::move(label));
  core->device_->add_queue(core);
  return core;
}

QueueCore::QueueCore(std::shared_ptr<DeviceCore> device, std::string label)
    : device_(std::move(device)),
      label_(std::move(label)),
      remembered_(kRemembered),
      keep_limit_(kSmallestKeepLimit),
      queue_(device_->shared_memory().with_reclaim([&] { return device_->device().make_queue(); })) {}

QueueCore::~QueueCore() {
  if (!device_->is_elsewhere()) return;
  static_cast<void>(fence_.release());
  if (track_ != nullptr) track_->abandon();
  static_cast<void>(queue_.release());
}

std::string QueueCore::description() const {
  return sentence("queue ", label_.empty() ? "" : "'" + label_ + "' ", "of ", device_->id());
}

std::uint64_t QueueCore::begin(const Command& command) {
  device_->refuse_elsewhere();
  if (poison_) throw Error(*poison_);
  ++submitted_;
  remembered_[submitted_ % kRemembered] = command;
  queue_->set_command(submitted_);
  return submitted_;
}

void QueueCore::note_kept(std::shared_ptr<void> object, std::shared_ptr<KernelCore> kernel, std::uint64_t sequence,
                          KeptList& released) {
  if (kernel != nullptr) note_kernel(std::move(kernel), sequence);
  if (object != nullptr) kept_.push_back({std::move(object), sequence});
  if (kept_.size() < keep_limit_) return;
  static_cast<void>(poll_fence(kept_.front().sequence));
  take_released(released);
  keep_limit_ = std::max(kSmallestKeepLimit, 2 * kept_.size());
}

void QueueCore::note_kernel(std::shared_ptr<KernelCore> kernel, std::uint64_t sequence) {
  for (Kept& known : kernels_) {
    if (known.object != kernel) continue;
    known.sequence = sequence;
    return;
  }
  kernels_.push_back({std::move(kernel), sequence});
  if (kernels_.size() > kKernelsRemembered) kept_.splice(kept_.end(), kernels_, kernels_.begin());
}

void QueueCore::refuse(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    const Error refused = told(error, "queueing ", Lazily([this] { return describe(submitted_); }), " on ",
                               Lazily([this] { return description(); }));
    if (is_refusal(error)) throw refused;
    if (!poison_) poison_ = refused;
  }
  // Part of the command may be running already, on the caller's memory: it must end before the caller learns of this.
  const bool has_settled = settle();
  throw_poison(has_settled);
}

void QueueCore::fail(const Error& error) {
  const bool has_settled = settle();
  {
    const std::lock_guard lock(mutex_);
    if (!poison_) {
      poison_ = told(error, "running ", Lazily([this] { return describe(queue_->suspects()); }), " on ",
                     Lazily([this] { return description(); }));
    }
  }
  throw_poison(has_settled);
}

void QueueCore::throw_poison(bool has_settled) const {
  const std::lock_guard lock(mutex_);
  if (has_settled) throw Error(*poison_);
  throw told(
      *poison_, "waiting for ", Lazily([this] { return description(); }),
      ", of which the driver does not tell whether its work has ended: host memory that was lent to it must stay");
}

void QueueCore::throw_if_poisoned() const {
  device_->refuse_elsewhere();
  const std::lock_guard lock(mutex_);
  if (poison_) throw Error(*poison_);
}

std::string QueueCore::describe(std::uint64_t sequence) const {
  if (sequence == 0 || sequence > submitted_ || sequence + kRemembered <= submitted_) {
    return sentence("command ", sequence, ", which is no longer remembered");
  }
  const Command& command = remembered_[sequence % kRemembered];
  return sentence("command ", sequence, ", ", words_of(command));
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

std::shared_ptr<Block> QueueCore::workspace(std::size_t size_bytes) {
  if (size_bytes == 0) return nullptr;
  std::shared_ptr<Block> too_small;
  {
    const std::lock_guard lock(mutex_);
    if (workspace_ != nullptr && workspace_->size_bytes() >= size_bytes) return workspace_;
    too_small = std::move(workspace_);
  }
  too_small.reset();  // before the larger one is taken: both at once may not fit
  auto larger = device_->allocate(size_bytes, sentence("workspace of ", description()));
  const std::lock_guard lock(mutex_);
  workspace_ = larger;
  return larger;
}

void QueueCore::let_go_of_workspace() noexcept {
  std::shared_ptr<Block> workspace;
  const std::unique_lock lock(mutex_, std::try_to_lock);  // held by a thread that queues: then the queue is not idle
  if (lock.owns_lock()) workspace = std::move(workspace_);
}

void QueueCore::take_released(KeptList& released) noexcept {
  for (auto kept = kept_.begin(); kept != kept_.end();) {
    const auto next = std::next(kept);
    if (progress_->is_past(kept->sequence)) released.splice(released.end(), kept_, kept);
    kept = next;
  }
}

std::pair<std::unique_ptr<backend::Event>, std::uint64_t> QueueCore::record() {
  device_->refuse_elsewhere();
  const std::lock_guard lock(mutex_);
  if (poison_) throw Error(*poison_);
  try {
    return {queue_->record(), submitted_};
  } catch (const Error& error) {
    throw error.while_doing(sentence("recording an event on ", description()));
  }
}

void QueueCore::wait(backend::Event& event, std::shared_ptr<void> owner) {
  constexpr std::array<const UntypedView*, 0> kNoViews{};
  submit({.kind = CommandKind::wait}, kNoViews, {.object = std::move(owner)},
         [&](backend::Queue& queue) { queue.wait(event); });
}

void QueueCore::watch_launches() {
  device_->refuse_elsewhere();
  const std::lock_guard lock(mutex_);
  queue_->watch_launches();
}

std::vector<LaunchFacts> QueueCore::watched_launches() {
  device_->refuse_elsewhere();
  const std::lock_guard lock(mutex_);
  return queue_->watched_launches();
}

void QueueCore::finish() {
  device_->refuse_elsewhere();
  std::uint64_t sequence = 0;
  bool is_poisoned = false;
  {
    const std::lock_guard lock(mutex_);
    sequence = submitted_;
    is_poisoned = poison_.has_value();
  }
  if (is_poisoned) {
    const bool has_settled = settle();
    throw_poison(has_settled);
  }
  std::optional<HostSpan> span;
  if (is_watched(kWatchCalls)) [[unlikely]]
    span.emplace(sentence("waiting for ", description()));
  // Without the lock: what runs on the queue may itself give memory back or take some.
  guarded([&] { queue_->finish(); });
  note_past(sequence);
  span.reset();
  if (is_watched(kWatchTrace)) [[unlikely]]
    flush_track();
}

bool QueueCore::settle() noexcept {
  std::uint64_t sequence = 0;
  {
    const std::lock_guard lock(mutex_);
    sequence = submitted_;
  }
  if (!queue_->drain()) return false;
  note_past(sequence);
  return true;
}

void QueueCore::close() noexcept {
  if (device_->is_elsewhere() || has_ended()) return;
  device_->park(parking_place_, shared_from_this());
}

bool QueueCore::has_ended() noexcept {
  if (!settle()) return false;
  progress_->reached(QueueProgress::kEnd);
  return true;
}

void QueueCore::note_past(std::uint64_t sequence) noexcept {
  progress_->reached(sequence);
  KeptList released;
  const std::lock_guard lock(mutex_);
  kept_.splice(kept_.end(), kernels_);
  take_released(released);
  if (track_ != nullptr) track_->collect();
}

bool QueueCore::poll_fence(std::uint64_t sequence) noexcept {
  if (progress_->is_past(sequence)) return true;
  try {
    if (fence_ == nullptr || (fence_sequence_ < sequence && fence_->is_done())) {
      fence_ = queue_->record();
      fence_sequence_ = submitted_;
    }
    if (!fence_->is_done()) return false;
  } catch (...) {
    // No answer: whoever waits for the queue next is told, and until then nothing is let go of.
    return false;
  }
  progress_->reached(fence_sequence_);
  fence_.reset();
  return progress_->is_past(sequence);
}

bool QueueCore::poll_past(std::uint64_t sequence) noexcept {
  if (progress_->is_past(sequence)) return true;
  if (device_->is_elsewhere()) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && poll_fence(sequence);
}

bool QueueCore::wait_until_past(std::uint64_t sequence) noexcept {
  if (progress_->is_past(sequence)) return true;
  return !device_->is_elsewhere() && settle() && progress_->is_past(sequence);
}

bool QueueCore::is_idle() noexcept {
  if (device_->is_elsewhere()) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && poll_fence(submitted_);
}

}  // namespace tessera::detail
