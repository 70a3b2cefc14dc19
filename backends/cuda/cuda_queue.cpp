// Puts commands on a stream. Sizes of 0 never reach the driver.
#include "cuda_queue.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "cuda_buffer.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
#include "cuda_fill.h"

namespace tessera::cuda {
namespace {

CUfunction fill_function(Context& context) {
  return context.function(embedded::fill, "tessera_fill_64");
}

}  // namespace

void load_fill(Context& context) {
  (void)fill_function(context);
}

CudaQueue::CudaQueue(std::shared_ptr<Context> context)
    : context_(std::move(context)), progress_(std::make_shared<Progress>()), marks_(*context_), staging_(*context_) {
  context_->make_current();
  // Non-blocking: the application's work on the legacy default stream neither waits for ours nor holds it up.
  check(context_->api().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "creating a stream");
}

CudaQueue::~CudaQueue() {
  // Nothing to wait for: drain() said that nothing runs. Destroying a stream needs no current context.
  context_->api().cuStreamDestroy(stream_);
}

void CudaQueue::upload(const backend::Slice& destination, const void* host) {
  if (destination.size_bytes == 0) return;
  context_->make_current();
  if (is_page_locked(*context_, host)) {
    check(context_->api().cuMemcpyHtoDAsync(address_of(destination), host, destination.size_bytes, stream_),
          "copying to the card");
  } else {
    staging_.upload(stream_, address_of(destination), host, destination.size_bytes);
  }
  note_queued();
}

void CudaQueue::download(void* host, const backend::Slice& source) {
  if (source.size_bytes == 0) return;
  context_->make_current();
  if (is_page_locked(*context_, host)) {
    check(context_->api().cuMemcpyDtoHAsync(host, address_of(source), source.size_bytes, stream_),
          "copying from the card");
  } else {
    staging_.download(stream_, host, address_of(source), source.size_bytes);
  }
  note_queued();
}

void CudaQueue::copy(const backend::Slice& destination, const backend::Slice& source) {
  if (destination.size_bytes == 0) return;
  context_->make_current();
  check(context_->api().cuMemcpyDtoDAsync(address_of(destination), address_of(source), destination.size_bytes, stream_),
        "copying on the card");
  note_queued();
}

void CudaQueue::fill(const backend::Slice& destination, std::span<const std::byte> pattern) {
  if (destination.size_bytes == 0) return;
  context_->make_current();
  const DriverApi& api = context_->api();
  const CUdeviceptr address = address_of(destination);
  const std::size_t count = destination.size_bytes / pattern.size();
  std::uint64_t value = 0;  // the pattern in the low bytes: the host is little-endian, as every host of CUDA is
  std::memcpy(&value, pattern.data(), pattern.size());
  const auto low = static_cast<std::uint32_t>(value);
  CUresult result = CUDA_SUCCESS;
  switch (pattern.size()) {
    case 1: result = api.cuMemsetD8Async(address, static_cast<unsigned char>(value), count, stream_); break;
    case 2: result = api.cuMemsetD16Async(address, static_cast<unsigned short>(value), count, stream_); break;
    case 4: result = api.cuMemsetD32Async(address, low, count, stream_); break;
    default:
      if (low != value >> 32) return fill_64(destination, value);
      result = api.cuMemsetD32Async(address, low, 2 * count, stream_);
      break;
  }
  check(result, "filling memory of the card");
  note_queued();
}

void CudaQueue::fill_64(const backend::Slice& destination, std::uint64_t pattern) {
  FillArguments arguments{pointer_to<std::uint64_t>(destination),
                          static_cast<std::int64_t>(destination.size_bytes / sizeof(pattern)), pattern};
  LaunchGrid grid;
  const auto blocks = static_cast<std::uint64_t>(arguments.count + kFillThreads - 1) / kFillThreads;
  grid.groups[0] = static_cast<unsigned>(std::min(blocks, context_->limits().groups[0]));
  grid.group_size[0] = kFillThreads;
  void* parameters[] = {&arguments};
  launch(fill_function(*context_), grid, parameters);
}

void CudaQueue::launch(CUfunction function, const LaunchGrid& grid, void** parameters) {
  context_->make_current();
  if (watch_ != nullptr) watch_->note(*context_, function, grid);
  if (grid.cluster_y == 1 && !grid.overlaps) {
    check(context_->api().cuLaunchKernel(function, grid.groups[0], grid.groups[1], grid.groups[2], grid.group_size[0],
                                         grid.group_size[1], grid.group_size[2], grid.dynamic_shared_bytes, stream_,
                                         parameters, nullptr),
          "launching a kernel");
    return note_queued();
  }
  std::array<CUlaunchAttribute, 2> attributes{};
  unsigned count = 0;
  if (grid.cluster_y > 1) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count++].value.clusterDim = {1, grid.cluster_y, 1};
  }
  if (grid.overlaps) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  CUlaunchConfig config{};
  config.gridDimX = grid.groups[0];
  config.gridDimY = grid.groups[1];
  config.gridDimZ = grid.groups[2];
  config.blockDimX = grid.group_size[0];
  config.blockDimY = grid.group_size[1];
  config.blockDimZ = grid.group_size[2];
  config.sharedMemBytes = grid.dynamic_shared_bytes;
  config.hStream = stream_;
  config.attrs = attributes.data();
  config.numAttrs = count;
  check(context_->api().cuLaunchKernelEx(&config, function, parameters, nullptr), "launching a kernel");
  note_queued();
}

std::vector<LaunchFacts> CudaQueue::watched_launches() {
  const std::unique_ptr<LaunchWatch> watch = std::move(watch_);
  return watch == nullptr ? std::vector<LaunchFacts>() : watch->facts();
}

std::unique_ptr<backend::Event> CudaQueue::record() {
  context_->make_current();
  return std::make_unique<CudaEvent>(context_, stream_, progress_, queued_.load(std::memory_order_relaxed));
}

void CudaQueue::wait(backend::Event& event) {
  context_->make_current();
  check(context_->api().cuStreamWaitEvent(stream_, static_cast<CudaEvent&>(event).handle(), CU_EVENT_WAIT_DEFAULT),
        "waiting for another queue's event");
  note_queued();
}

void CudaQueue::finish() {
  const std::uint64_t queued = queued_.load(std::memory_order_relaxed);
  context_->make_current();
  check(context_->api().cuStreamSynchronize(stream_), "waiting for the queue's work");
  progress_->reached(queued);
}

bool CudaQueue::drain() noexcept {
  // A refusal may pass, so the driver is asked again. That the context is dead is believed only when every answer says
  // so: a fault is sticky, an error that merely looks like one is not.
  constexpr int kTries = 4;
  int lost = 0;
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1 << 2 * (i - 1)));
    CUresult result = context_->set_current();
    if (result == CUDA_SUCCESS) result = context_->api().cuStreamSynchronize(stream_);
    if (result == CUDA_SUCCESS) return true;
    if (means_lost(result)) ++lost;
  }
  if (lost < kTries) return false;
  staging_.abandon();
  return true;
}

backend::Suspects CudaQueue::suspects() const {
  backend::Suspects suspects{progress_->known() + 1, queued_.load(std::memory_order_relaxed)};
  marks_.narrow(suspects);
  return suspects;
}

}  // namespace tessera::cuda
