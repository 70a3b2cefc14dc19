// Makes an allocation fail: the program's operator new, which the library and the plug-ins share with it, and what a
// plug-in asks the system for through a hook. For every test program that has to run out of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::fault {

/// Whose allocations are counted and may fail.
enum class Whose : std::uint8_t { everybody, this_thread };

/// Counts from here on, and makes the k-th request of operator new fail if the library or a plug-in makes it; with
/// `is_lasting` all such from there on. k = 0: only counts.
void arm_allocations(std::uint64_t k, Whose whose = Whose::everybody, bool is_lasting = false) noexcept;
/// The same for requests of any thread, whoever makes them.
void arm_allocations_of_any_code(std::uint64_t k, bool is_lasting = false) noexcept;
/// All requests of this thread for as many bytes or more fail, whoever makes them.
void arm_allocations_from(std::size_t size_bytes) noexcept;
/// Ends it, and returns how many were counted.
std::uint64_t disarm_allocations() noexcept;

/// Was the last request that failed made by the library or a plug-in (some function of theirs was on the stack), and
/// not by the test program alone?
[[nodiscard]] bool failed_within_library() noexcept;

/// Blocks of operator new that are not freed.
[[nodiscard]] std::int64_t live_allocations() noexcept;

/// Counts one more request, of another allocator; true if it shall fail.
[[nodiscard]] bool next_request_fails() noexcept;

}  // namespace tessera::fault
