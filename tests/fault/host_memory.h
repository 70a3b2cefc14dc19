// The test program's operator new, which can be told to fail: what the library does when the process has no memory
// left.
#pragma once

namespace tessera::testing {

/// Lets the `nth` allocation from here on fail, counted over all threads from 1, and with `for_good` every later one.
void fail_allocation(long nth, bool for_good = false) noexcept;
/// Nothing fails any more. Returns how many allocations there were since fail_allocation().
long stop_failing() noexcept;

}  // namespace tessera::testing
