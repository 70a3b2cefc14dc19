// Hands commands to the driver and keeps count of them.
#include "opencl_queue.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "mathematics/rising_number.h"
#include "opencl_buffer.h"

namespace tessera::opencl {

namespace {

/// The most patterns that one fill writes. NVIDIA's driver 580 counts them, from the buffer's begin, in 31 bits: beyond
/// that a fill hangs, crashes or writes nothing.
constexpr std::size_t kMaxFillPatterns = std::size_t{1} << 30U;

}  // namespace

OpenclQueue::OpenclQueue(std::shared_ptr<OpenclContext> context)
    : context_(std::move(context)),
      progress_(std::make_shared<Progress>()),
      times_markers_(context_->times_markers()),
      queue_(context_->make_queue()) {}

OpenclQueue::~OpenclQueue() {
  // drain() has answered true. By the standard a queue that is released ends what is left of it in peace, and holds on
  // to its memory objects; but not to the host's memory, for which this waits once more. It costs nothing.
  (void)context_->api().clFinish(queue_.get());
}

void OpenclQueue::accepted(cl_int code, std::string_view call, Stage stage) {
  context_->check(code, call, stage);
  progress_->newest = command();
  ++progress_->accepted;
  // Measured with NVIDIA's driver 580: a bare launch takes 2.95 us and a flush 0.6 us on the host of an H200, 6 and up
  // to 3 on that of an H100. Work starts without it.
  if (context_->facts().needs_flush) (void)context_->api().clFlush(queue_.get());
}

void OpenclQueue::upload(const backend::Slice& destination, const void* host) {
  if (destination.size_bytes == 0) return;
  accepted(context_->api().clEnqueueWriteBuffer(queue_.get(), native(destination), CL_FALSE, destination.offset_bytes,
                                                destination.size_bytes, host, 0, nullptr, nullptr),
           "clEnqueueWriteBuffer");
}

void OpenclQueue::download(void* host, const backend::Slice& source) {
  if (source.size_bytes == 0) return;
  accepted(context_->api().clEnqueueReadBuffer(queue_.get(), native(source), CL_FALSE, source.offset_bytes,
                                               source.size_bytes, host, 0, nullptr, nullptr),
           "clEnqueueReadBuffer");
}

void OpenclQueue::copy(const backend::Slice& destination, const backend::Slice& source) {
  if (source.size_bytes == 0) return;
  accepted(context_->api().clEnqueueCopyBuffer(queue_.get(), native(source), native(destination), source.offset_bytes,
                                               destination.offset_bytes, source.size_bytes, 0, nullptr, nullptr),
           "clEnqueueCopyBuffer");
}

void OpenclQueue::fill(const backend::Slice& destination, std::span<const std::byte> pattern) {
  const std::size_t largest_bytes = kMaxFillPatterns * pattern.size();
  for (std::size_t done = 0; done < destination.size_bytes; done += largest_bytes) {
    const std::size_t first = destination.offset_bytes + done;
    const std::size_t bytes = std::min(largest_bytes, destination.size_bytes - done);
    // Far into a large buffer, the part to fill becomes a buffer of its own.
    const std::size_t alignment = context_->facts().base_alignment_bytes;
    const std::size_t origin = first < largest_bytes ? 0 : first / alignment * alignment;
    // It may go before the command has run: see sub_buffer().
    const Handle<cl_mem> part = sub_buffer(*context_, {destination.buffer, origin, first + bytes - origin});
    accepted(context_->api().clEnqueueFillBuffer(queue_.get(), part ? part.get() : native(destination), pattern.data(),
                                                 pattern.size(), first - origin, bytes, 0, nullptr, nullptr),
             "clEnqueueFillBuffer", done == 0 ? Stage::request : Stage::rest);
  }
}

void OpenclQueue::launch(cl_kernel kernel, const NdRange& range, Stage stage) {
  if (watch_ != nullptr) watch_->note(*context_, kernel, range);
  accepted(context_->api().clEnqueueNDRangeKernel(queue_.get(), kernel, range.dimensions, nullptr, range.global.data(),
                                                  range.local.data(), 0, nullptr, nullptr),
           "clEnqueueNDRangeKernel", stage);
}

cl_mem OpenclQueue::counters() {
  if (!counters_) {
    std::array<cl_uint, kCounters> zeros{};
    cl_mem buffer = nullptr;
    const cl_int code = ask_again([&] {
      cl_int answer = CL_SUCCESS;
      buffer = context_->api().clCreateBuffer(context_->native(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                              sizeof(zeros), zeros.data(), &answer);
      return answer;
    });
    context_->check(code, "clCreateBuffer", Stage::allocation);
    counters_ = {buffer, context_->api().clReleaseMemObject};
  }
  return counters_.get();
}

std::vector<LaunchFacts> OpenclQueue::watched_launches() {
  const std::unique_ptr<LaunchWatch> watch = std::move(watch_);
  return watch == nullptr ? std::vector<LaunchFacts>() : watch->facts();
}

void OpenclQueue::launch_library(std::string_view call, const std::function<cl_int(cl_command_queue)>& enqueue) {
  const cl_int code = enqueue(queue_.get());
  progress_->newest = command();  // whatever the answer, some of its commands may be queued
  ++progress_->accepted;
  accepted(code, call, Stage::rest);
}

std::unique_ptr<backend::Event> OpenclQueue::record() {
  const OpenclApi& api = context_->api();
  const std::uint64_t accepted = progress_->accepted;
  cl_event event = nullptr;
  if (times_markers_) {
    context_->check(api.clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
  } else {
    // Any small command that is timed stands for the marker: the queue is in order.
    const cl_int zero = 0;
    context_->check(api.clEnqueueFillBuffer(queue_.get(), context_->scratch(), &zero, sizeof(zero), 0, sizeof(zero), 0,
                                            nullptr, &event),
                    "clEnqueueFillBuffer");
  }
  Handle<cl_event> owned(event, api.clReleaseEvent);
  // Another queue, or another thread, may wait for this event: OpenCL demands a flush before that.
  context_->check(api.clFlush(queue_.get()), "clFlush", Stage::execution);
  return std::make_unique<OpenclEvent>(context_, progress_, std::move(owned), progress_->newest.load(), accepted);
}

void OpenclQueue::wait(backend::Event& event) {
  const cl_event native_event = static_cast<const OpenclEvent&>(event).native();
  accepted(context_->api().clEnqueueBarrierWithWaitList(queue_.get(), 1, &native_event, nullptr),
           "clEnqueueBarrierWithWaitList");
}

void OpenclQueue::finish() {
  const std::uint64_t newest = progress_->newest;
  const std::uint64_t accepted = progress_->accepted;
  context_->check(context_->api().clFinish(queue_.get()), "clFinish", Stage::execution);
  mathematics::raise(progress_->done, newest);
  mathematics::raise(progress_->past, accepted);
}

bool OpenclQueue::drain() noexcept {
  // A queue with nothing on it, or nothing that was not seen to end, needs no driver to say so.
  const std::uint64_t accepted = progress_->accepted;
  if (accepted == progress_->past) return true;
  // A driver that fails to wait may do so for want of memory, so it is asked again; and a marker is another way to ask,
  // which needs a command of its own but not clFinish. What fails for another reason fails in the same way each time.
  const bool is_past = ask_again([&] { return context_->api().clFinish(queue_.get()); }) == CL_SUCCESS ||
                       waits_for_marker() || context_->is_lost();
  if (is_past) mathematics::raise(progress_->past, accepted);
  return is_past;
}

bool OpenclQueue::waits_for_marker() const noexcept {
  const OpenclApi& api = context_->api();
  cl_event event = nullptr;
  const auto mark = [&] { return api.clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &event); };
  if (ask_again(mark) != CL_SUCCESS) return false;
  const Handle<cl_event> owned(event, api.clReleaseEvent);
  (void)ask_again([&] { return api.clFlush(queue_.get()); });
  if (ask_again([&] { return api.clWaitForEvents(1, &event); }) == CL_SUCCESS) return true;
  // The third way: to look again and again. A marker that has failed, below CL_COMPLETE, may have done so alone, ahead
  // of what runs before it.
  for (;;) {
    cl_int status = CL_QUEUED;
    const auto ask = [&] {
      return api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
    };
    if (ask_again(ask) != CL_SUCCESS || status < CL_COMPLETE) return false;
    if (status == CL_COMPLETE) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

backend::Suspects OpenclQueue::suspects() const {
  const std::uint64_t newest = progress_->newest;
  return {std::min(progress_->done + 1, newest), newest};
}

}  // namespace tessera::opencl
