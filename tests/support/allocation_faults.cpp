// The program's operator new and delete: malloc, with a counter before it.
#include "allocation_faults.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#ifndef TESSERA_FAULT_LIBRARY
#define TESSERA_FAULT_LIBRARY "libtessera"  // what the files are called whose requests fail
#endif

namespace tessera::fault {

namespace {

std::atomic<bool> armed{false};
std::atomic<std::uint64_t> counted{0};
std::atomic<std::uint64_t> failing{0};
std::atomic<bool> lasting{false};
std::atomic<bool> of_one_thread{false};
std::atomic<bool> of_the_library{false};
std::atomic<bool> within_library{false};
std::atomic<std::size_t> smallest{0};
std::atomic<std::int64_t> live{0};
constinit thread_local bool is_the_thread = false;

/// Is it the library or a plug-in of it that asks, through other libraries perhaps? Not what oneTBB asks for itself,
/// nor what a library asks for while it is loaded: an exception that leaves a static constructor ends the program,
/// whoever wrote it, and Highway's takes memory.
bool library_is_on_stack() noexcept {
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  bool is_there = false;
  for (int frame = 0; frame < count; ++frame) {
    Dl_info info{};
    if (dladdr(frames[static_cast<std::size_t>(frame)], &info) == 0 || info.dli_fname == nullptr) continue;
    if (std::strstr(info.dli_fname, "/ld-linux") != nullptr) return false;
    if (!is_there && std::strstr(info.dli_fname, "libtbb") != nullptr) return false;
    if (std::strstr(info.dli_fname, TESSERA_FAULT_LIBRARY) != nullptr) is_there = true;
  }
  return is_there;
}

void arm(std::uint64_t k, Whose whose, bool is_lasting, bool only_library, std::size_t size_bytes) noexcept {
  is_the_thread = true;
  of_one_thread = whose == Whose::this_thread;
  lasting = is_lasting;
  of_the_library = only_library;
  smallest = size_bytes;
  failing = k;
  counted = 0;
  within_library = false;
  armed = true;
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (size >= smallest.load(std::memory_order_relaxed) && next_request_fails()) return nullptr;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = alignment <= alignof(std::max_align_t) ? std::malloc(size == 0 ? 1 : size)
                                                              : std::aligned_alloc(alignment, rounded);
  if (memory != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* const memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

void arm_allocations(std::uint64_t k, Whose whose, bool is_lasting) noexcept {
  // The first call loads a library, which must not be while nothing can be allocated.
  static const bool warm = library_is_on_stack();
  static_cast<void>(warm);
  arm(k, whose, is_lasting, true, 0);
}

void arm_allocations_of_any_code(std::uint64_t k, bool is_lasting) noexcept {
  arm(k, Whose::everybody, is_lasting, false, 0);
}

void arm_allocations_from(std::size_t size_bytes) noexcept {
  arm(1, Whose::this_thread, true, false, size_bytes);
}

std::uint64_t disarm_allocations() noexcept {
  armed = false;
  is_the_thread = false;
  return counted;
}

bool failed_within_library() noexcept {
  return within_library;
}

std::int64_t live_allocations() noexcept {
  return live;
}

bool next_request_fails() noexcept {
  if (!armed.load(std::memory_order_relaxed)) return false;
  if (of_one_thread && !is_the_thread) return false;
  const std::uint64_t number = ++counted;
  if (failing == 0 || (lasting ? number < failing : number != failing)) return false;
  if (!of_the_library) return true;
  // What the program asks for on its own account is no concern of the library.
  if (!library_is_on_stack()) return false;
  within_library = true;
  return true;
}

}  // namespace tessera::fault

using tessera::fault::allocate;
using tessera::fault::allocate_or_throw;
using tessera::fault::release;

void* operator new(std::size_t size) {
  return allocate_or_throw(size, 1);
}
void* operator new[](std::size_t size) {
  return allocate_or_throw(size, 1);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
