// The register of memories by name, and the way to get back what their devices cache.
#include "shared_memory.h"

#include <algorithm>
#include <map>
#include <utility>

#include "backend/sentence.h"
#include "device_core.h"

namespace tessera::detail {
namespace {

using backend::sentence;

constexpr std::size_t kLargestNamed = 5;

thread_local int commands_inside = 0;

struct Register {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<SharedMemory>> memories;
};

Register& all_memories() {
  static Register* const memories = new Register;  // never destroyed: a device may be closed after static objects
  return *memories;
}

}  // namespace

std::shared_ptr<SharedMemory> SharedMemory::of(const std::string& name) {
  Register& known = all_memories();
  const std::lock_guard lock(known.mutex);
  std::weak_ptr<SharedMemory>& entry = known.memories[name];
  std::shared_ptr<SharedMemory> memory = entry.lock();
  if (memory == nullptr) entry = memory = std::make_shared<SharedMemory>();
  return memory;
}

void SharedMemory::join(std::weak_ptr<DeviceCore> device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [](const auto& known) { return known.expired(); });
  devices_.push_back(std::move(device));
}

std::vector<std::shared_ptr<DeviceCore>> SharedMemory::devices() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<DeviceCore>> list;
  for (const auto& known : devices_) {
    if (auto device = known.lock(); device != nullptr && !device->is_elsewhere()) list.push_back(std::move(device));
  }
  return list;
}

bool SharedMemory::reclaim(std::uint64_t freed) {
  bool gave = false;
  for (const auto& device : devices()) gave = device->give_back(!is_inside_command()) != 0 || gave;
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return freeing_ == 0; });
  return gave || freed_ != freed;
}

std::uint64_t SharedMemory::times_freed() {
  const std::lock_guard lock(mutex_);
  return freed_;
}

std::string SharedMemory::largest_holders() {
  std::vector<Allocator::NamedHolder> holders;
  for (const auto& device : devices()) device->allocator().list_holders(holders);
  std::uint64_t bytes = 0;
  for (const auto& holder : holders) bytes += holder.size_bytes;
  std::sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
    return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes : a.name < b.name;
  });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(holders.size(), kLargestNamed); ++i) names.push_back(holders[i].name);
  return sentence("this program holds ", bytes, " bytes of that memory in ", holders.size(),
                  " buffers, kernels and the like, largest ", backend::enumerate(names));
}

SharedMemory::Freeing::Freeing(SharedMemory& memory) noexcept : memory_(memory) {
  const std::lock_guard lock(memory_.mutex_);
  ++memory_.freeing_;
}

SharedMemory::Freeing::~Freeing() {
  const std::lock_guard lock(memory_.mutex_);
  if (gave_) ++memory_.freed_;
  if (--memory_.freeing_ == 0) memory_.idle_.notify_all();
}

bool is_inside_command() noexcept {
  return commands_inside > 0;
}
InsideCommand::InsideCommand() noexcept {
  ++commands_inside;
}
InsideCommand::~InsideCommand() {
  --commands_inside;
}

}  // namespace tessera::detail
