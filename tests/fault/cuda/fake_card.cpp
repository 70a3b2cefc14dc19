// The fake card's memory and what a test may do to it.
#include "fault/cuda/fake_card.h"

#include <cstdio>
#include <cstdlib>

namespace tessera::fake {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kMostFreedBytes = std::size_t{128} << 20;

void set_kernel_us(int microseconds) {
  card().kernel_us = microseconds;
}

void set_host_function_us(int microseconds) {
  card().host_function_us = microseconds;
}

void kill(int code) {
  card().dead = code;
  const std::lock_guard lock(card().streams_mutex);
  for (const auto& stream : card().streams) stream->wake();
}

void revive() {
  card().dead = 0;
}

void set_memory_bytes(std::size_t bytes) {
  card().memory.set_limit(bytes);
}

void set_compute_capability(int major, int minor) {
  card().major = major;
  card().minor = minor;
}

long misuses() {
  return card().misuses;
}

constexpr CardControls kControls{set_kernel_us,    set_host_function_us,   kill,   revive,
                                 set_memory_bytes, set_compute_capability, misuses};

}  // namespace

Card& card() {
  static Card* const the_card = new Card;
  return *the_card;
}

void Card::note_misuse(const char* what) {
  ++misuses;
  std::fprintf(stderr, "fake card: %s\n", what);
}

bool Card::is_usable(CUdeviceptr address, std::size_t bytes, const char* what) {
  if (memory.holds(reinterpret_cast<const void*>(address), bytes)) return true;
  note_misuse(what);
  return false;
}

std::shared_ptr<Stream> Card::find(CUstream stream) {
  const std::lock_guard lock(streams_mutex);
  for (const auto& known : streams) {
    if (known.get() == reinterpret_cast<Stream*>(stream)) return known;
  }
  note_misuse("a call names a stream that is not there any more");
  return nullptr;
}

void* Memory::take(std::size_t bytes) {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || rounded > limit_bytes_ || used_bytes_ > limit_bytes_ - rounded) return nullptr;
  void* const block = std::aligned_alloc(kAlignment, rounded);
  if (block == nullptr) return nullptr;
  blocks_[reinterpret_cast<std::uintptr_t>(block)] = rounded;
  used_bytes_ += rounded;
  return block;
}

bool Memory::give(void* address) {
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(reinterpret_cast<std::uintptr_t>(address));
  if (block == blocks_.end()) return false;
  used_bytes_ -= block->second;
  freed_bytes_ += block->second;
  freed_.emplace_back(address, block->second);
  blocks_.erase(block);
  while (freed_bytes_ > kMostFreedBytes) {
    freed_bytes_ -= freed_.front().second;
    std::free(freed_.front().first);
    freed_.pop_front();
  }
  return true;
}

bool Memory::holds(const void* address, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto block = blocks_.upper_bound(begin);
  if (block == blocks_.begin()) return false;
  --block;
  return begin + bytes <= block->first + block->second;
}

std::size_t Memory::used_bytes() {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

void Memory::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_bytes_ = bytes;
}

extern "C" __attribute__((visibility("default"))) const CardControls* tessera_fake_card();
const CardControls* tessera_fake_card() {
  return &kControls;
}

}  // namespace tessera::fake
