// Writes host spans and profilers' ranges.
#include "host_span.h"

#include <utility>

#include "nvtx.h"
#include "watch.h"

namespace tessera::detail {

HostSpan::HostSpan(std::string name) noexcept : name_(std::move(name)), trace_(current_trace()) {
  if (trace_ != nullptr) begin_ns_ = trace_->now_ns();
  has_range_ = is_watched(kWatchRanges);
  if (has_range_) push_nvtx_range(name_.c_str());
}

HostSpan::~HostSpan() {
  if (has_range_) pop_nvtx_range();
  if (trace_ == nullptr) return;
  try {
    trace_->add(trace_->host_line(), {name_, "host", begin_ns_, trace_->now_ns(), {}});
  } catch (const std::exception&) {
    // No memory for the thread's name: a span less.
  }
}

}  // namespace tessera::detail
