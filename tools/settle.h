// Between two measurements: waits until the threads of this process sleep. Libraries that were called before keep
// theirs spinning for a while, in case that more work comes, and would take the processors from what is measured next.
#pragma once

namespace tessera::tool {

/// Returns as soon as this process, but for the caller, uses hardly any processor, or after `limit_s`. True if it came
/// to rest. Takes a few milliseconds where nothing spins.
bool settle(double limit_s = 0.5);

}  // namespace tessera::tool
