// DeviceCore: memory and blocking transfers on one opened device, and what is left of queues that did not drain.
#include "device_core.h"

#include <algorithm>
#include <utility>

#include "backend/sentence.h"
#include "command_watch.h"
#include "queue_core.h"
#include "watch.h"

namespace tessera::detail {

using backend::sentence;

namespace {

constexpr const char* kHostMemory = "host";

}  // namespace

std::shared_ptr<DeviceCore> DeviceCore::make(backend::Backend& backend, std::unique_ptr<backend::Device> device,
                                             OpeningFacts facts) {
  count_forks();
  auto core = std::make_shared<DeviceCore>(backend, std::move(device), std::move(facts));
  core->shared_memory_->join(core);
  core->device_->set_reclaim([weak = std::weak_ptr<DeviceCore>(core)] {
    const auto self = weak.lock();
    if (self == nullptr) return false;
    const InsideCommand inside;  // the calling thread may be a queue's own, which must not wait for a queue
    return self->shared_memory_->reclaim(self->shared_memory_->times_freed());
  });
  return core;
}

DeviceCore::DeviceCore(backend::Backend& backend, std::unique_ptr<backend::Device> device, OpeningFacts facts)
    : device_(std::move(device)),
      operators_(backend.operators()),
      backend_name_(backend.name()),
      facts_(std::move(facts)),
      info_when_opened_(info()),
      shared_memory_(SharedMemory::of(device_->memory_name())),
      host_memory_(SharedMemory::of(kHostMemory)),
      allocator_(*device_, facts_.id, shared_memory_) {}

DeviceCore::~DeviceCore() {
  if (!is_elsewhere()) return;
  allocator_.abandon();
  if (transfer_track_ != nullptr) transfer_track_->abandon();
  if (track_ != nullptr) track_->abandon();
  static_cast<void>(transfer_queue_.release());
  static_cast<void>(device_.release());
}

DeviceInfo DeviceCore::info() const {
  DeviceInfo info = device_->info();
  info.id = facts_.id;
  info.backend = backend_name_;
  info.chosen_because = facts_.chosen_because;
  return info;
}

void DeviceCore::refuse_elsewhere() const {
  if (!is_elsewhere()) return;
  throw Error(ErrorCode::unavailable,
              sentence(facts_.id,
                       " was opened before fork(): in the child process it has neither its threads nor its driver, so "
                       "nothing of it can be used there"));
}

std::shared_ptr<Block> DeviceCore::allocate(std::size_t size_bytes, const std::string& label) {
  refuse_elsewhere();
  return std::make_shared<Block>(shared_from_this(), allocator_.take(size_bytes), size_bytes, label);
}

std::shared_ptr<PinnedBlock> DeviceCore::allocate_pinned(std::size_t size_bytes) {
  refuse_elsewhere();
  const std::size_t asked = std::max<std::size_t>(size_bytes, 1);
  try {
    // Page-locked memory is the host's, and drivers keep books of it on the card too.
    auto memory = shared_memory_->with_reclaim(
        [&] { return host_memory_->with_reclaim([&] { return device_->allocate_pinned(asked); }); });
    return std::make_shared<PinnedBlock>(shared_from_this(), std::move(memory), size_bytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    throw Error(ErrorCode::out_of_memory,
                sentence("pinned memory of ", size_bytes, " bytes for ", facts_.id,
                         " is not to be had: ", error.sentence(), "; ", host_memory_->largest_holders()),
                error.native());
  }
}

std::shared_ptr<DeviceTrack> DeviceCore::track() noexcept {
  try {
    const std::shared_ptr<Trace> trace = current_trace();
    if (trace == nullptr || is_elsewhere()) return nullptr;
    const std::lock_guard lock(track_mutex_);
    if (track_ == nullptr || track_->trace() != trace) {
      track_ = std::make_shared<DeviceTrack>(trace, *device_, sentence(facts_.id, ", ", info_when_opened_.name));
    }
    return track_;
  } catch (const std::exception&) {
    return nullptr;
  }
}

QueueTrack* DeviceCore::track_of(std::unique_ptr<QueueTrack>& known, std::string_view name) {
  std::shared_ptr<DeviceTrack> device = track();
  if (device == nullptr) return nullptr;
  if (known == nullptr || known->device() != device) known = std::make_unique<QueueTrack>(std::move(device), name);
  return known.get();
}

template <class Transfer>
void DeviceCore::transfer_now(const Command& command, const UntypedView& view, const Transfer& transfer) {
  refuse_elsewhere();
  std::optional<CommandWatch> watch;
  {
    const std::lock_guard lock(transfer_mutex_);
    if (transfer_queue_ == nullptr) transfer_queue_ = device_->make_queue();
    if (is_watched(kWatchCommands)) [[unlikely]]
      begin_watch(watch, command);
    try {
      transfer(*transfer_queue_);
      if (watch) [[unlikely]]
        watch->queued(*transfer_queue_, true);
      transfer_queue_->finish();
    } catch (...) {
      const Error error = current_error();
      transfer_track_.reset();
      settle_transfers(view);  // a failed queue stays failed: the next transfer starts with a fresh one
      throw error;
    }
    if (transfer_track_ != nullptr) transfer_track_->collect();
  }
  if (watch) [[unlikely]]
    watch->tell();
}

void DeviceCore::begin_watch(std::optional<CommandWatch>& watch, const Command& command) noexcept {
  try {
    QueueTrack* const track = track_of(transfer_track_, transfer_label_);
    watch.emplace(*this, transfer_label_, track, *transfer_queue_, command, nullptr);
  } catch (const std::exception&) {
    // Then the copy is not watched.
  }
}

void DeviceCore::settle_transfers(const UntypedView& view) {
  if (transfer_queue_->drain()) {
    transfer_queue_.reset();
    return;
  }
  try {
    std::list<StrayTransfer> stray(1);
    stray.front().queue = std::move(transfer_queue_);
    stray.front().block = view.block();
    const std::lock_guard lock(queues_mutex_);
    strays_.splice(strays_.end(), stray);
  } catch (const std::bad_alloc&) {
    static_cast<void>(transfer_queue_.release());  // no memory even for a list entry: the queue is never destroyed
  }
}

void DeviceCore::upload_now(const UntypedView& destination, const void* host) {
  if (destination.size_bytes() == 0) return refuse_elsewhere();
  transfer_now({CommandKind::upload, nullptr, destination.size_bytes()}, destination,
               [&](backend::Queue& queue) { queue.upload(slice_of(destination), host); });
}

void DeviceCore::download_now(void* host, const UntypedView& source) {
  if (source.size_bytes() == 0) return refuse_elsewhere();
  transfer_now({CommandKind::download, nullptr, source.size_bytes()}, source,
               [&](backend::Queue& queue) { queue.download(host, slice_of(source)); });
}

void DeviceCore::add_queue(const std::shared_ptr<QueueCore>& queue) {
  const std::lock_guard lock(queues_mutex_);
  std::erase_if(queues_, [](const auto& known) { return known.expired(); });
  queues_.push_back(queue);
}

void DeviceCore::park(std::list<std::shared_ptr<QueueCore>>& place, std::shared_ptr<QueueCore> queue) noexcept {
  place.front() = std::move(queue);
  const std::lock_guard lock(queues_mutex_);
  parked_.splice(parked_.end(), place);
}

void DeviceCore::retry_parked() noexcept {
  std::list<std::shared_ptr<QueueCore>> parked;
  std::list<StrayTransfer> strays;
  {
    const std::lock_guard lock(queues_mutex_);
    parked.swap(parked_);
    strays.swap(strays_);
  }
  parked.remove_if([](const auto& queue) { return queue->has_ended(); });
  strays.remove_if([](const StrayTransfer& stray) { return stray.queue->drain(); });
  const std::lock_guard lock(queues_mutex_);
  parked_.splice(parked_.end(), parked);
  strays_.splice(strays_.end(), strays);
}

std::vector<std::shared_ptr<QueueCore>> DeviceCore::queues() {
  const std::lock_guard lock(queues_mutex_);
  std::vector<std::shared_ptr<QueueCore>> list;
  for (const auto& known : queues_) {
    if (auto queue = known.lock()) list.push_back(std::move(queue));
  }
  return list;
}

std::uint64_t DeviceCore::give_back(bool wait) noexcept {
  try {
    for (const auto& queue : queues()) queue->let_go_of_workspace();
  } catch (const std::bad_alloc&) {
    // No memory for the list of queues: they keep their workspaces this time.
  }
  if (wait) retry_parked();
  allocator_.collect_pending(wait);
  return allocator_.trim() + device_->trim();
}

std::uint64_t DeviceCore::trim() noexcept {
  try {
    for (const auto& queue : queues()) {
      if (queue->is_idle()) queue->let_go_of_workspace();
    }
  } catch (const std::bad_alloc&) {
    // No memory for the list of queues: they keep their workspaces this time.
  }
  retry_parked();
  allocator_.collect_pending(false);
  return allocator_.trim() + device_->trim();
}

}  // namespace tessera::detail
