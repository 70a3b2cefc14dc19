// Replaces the global operator new. Plain malloc under it, so that sanitizers see every block.
#include "host_memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace tessera::testing {
namespace {

std::atomic<bool> is_armed{false};
std::atomic<bool> is_for_good{false};
std::atomic<long> failing{0};
std::atomic<long> counted{0};

bool is_to_fail() noexcept {
  if (!is_armed.load(std::memory_order_relaxed)) return false;
  const long number = counted.fetch_add(1, std::memory_order_relaxed) + 1;
  return is_for_good ? number >= failing : number == failing;
}

}  // namespace

void fail_allocation(long nth, bool for_good) noexcept {
  failing = nth;
  is_for_good = for_good;
  counted = 0;
  is_armed = true;
}

long stop_failing() noexcept {
  is_armed = false;
  return counted;
}

}  // namespace tessera::testing

// NOLINTBEGIN(misc-new-delete-overloads): the forms that are not replaced call these.
void* operator new(std::size_t size) {
  if (tessera::testing::is_to_fail()) throw std::bad_alloc();
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
// NOLINTEND(misc-new-delete-overloads)
