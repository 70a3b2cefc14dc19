// Between two measurements: waits until the threads of this process sleep. Libraries that were called before keep
// theirs spinning for a while, in case that more work comes, and would take the processors from what is measured next.
#pragma once

namespace tessera::tool {

/// Returns as soon as no thread of this process but the caller wants a processor, or after `limit_s`. True if it came
/// to rest. Takes a millisecond or two where nothing spins; true at once where the system does not tell.
bool settle(double limit_s);

/// Settles before one measurement after the other. Where threads never come to rest it soon stops waiting long.
class Rest {
 public:
  bool wait();

 private:
  int failures_ = 0;  // one behind the other
};

}  // namespace tessera::tool
