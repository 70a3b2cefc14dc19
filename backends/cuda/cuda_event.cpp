// Recording, waiting and measuring with CUDA events.
#include "cuda_event.h"

#include <utility>

#include "cuda_error.h"

namespace tessera::cuda {

CudaEvent::CudaEvent(std::shared_ptr<Context> context, CUstream stream, std::shared_ptr<Progress> progress,
                     std::uint64_t command)
    : context_(std::move(context)), progress_(std::move(progress)), command_(command), event_(context_->take_event()) {
  const CUresult result = context_->api().cuEventRecord(event_, stream);
  if (result == CUDA_SUCCESS) return;
  context_->give_event(event_);
  throw cuda_error(result, "recording an event");
}

CudaEvent::~CudaEvent() {
  context_->give_event(event_);
}

void CudaEvent::wait() {
  context_->make_current();
  check(context_->api().cuEventSynchronize(event_), "waiting for an event");
  progress_->reached(command_);
}

bool CudaEvent::is_done() {
  context_->make_current();
  const CUresult result = context_->api().cuEventQuery(event_);
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "asking for an event");
  progress_->reached(command_);
  return true;
}

double CudaEvent::seconds_since(backend::Event& start) {
  context_->make_current();
  float milliseconds = 0;
  check(context_->api().cuEventElapsedTime(&milliseconds, static_cast<CudaEvent&>(start).event_, event_),
        "measuring between two events");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace tessera::cuda
