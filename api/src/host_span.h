// A call of the host, shown in the trace on its thread's line and told to a profiler as a range.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trace.h"

namespace tessera::detail {

/// From its making to its end. Begins and ends on one thread; those of a thread contain one another or are apart.
class HostSpan {
 public:
  explicit HostSpan(std::string name) noexcept;
  HostSpan(const HostSpan&) = delete;
  HostSpan& operator=(const HostSpan&) = delete;
  ~HostSpan();

 private:
  std::string name_;
  std::shared_ptr<Trace> trace_;
  std::int64_t begin_ns_ = 0;
  bool has_range_ = false;
};

}  // namespace tessera::detail
