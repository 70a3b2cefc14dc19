// What every operator's kernel on CUDA is made of: a function of an embedded image, a grid, and one struct of
// arguments.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "cuda_context.h"
#include "cuda_queue.h"

namespace tessera::cuda {

/// The operators' kernels take exactly one parameter, a struct by value that host and device code share through a
/// header (ops/<op>/<op>_arguments.h). A derived class keeps it filled in but for the operands' addresses.
class CudaKernel : public backend::Kernel {
 protected:
  CudaKernel(std::shared_ptr<Context> context, const Image& image, const std::string& function, LaunchGrid grid)
      : context_(std::move(context)), function_(context_->function(image, function)), grid_(grid) {}

  /// Queues one run. The struct is copied before this returns; nothing is allocated.
  template <class Arguments>
  void enqueue(backend::Queue& queue, Arguments& arguments) const {
    void* parameters[] = {&arguments};
    static_cast<CudaQueue&>(queue).launch(function_, grid_, parameters);
  }

 private:
  std::shared_ptr<Context> context_;  // the function lives as long as its context
  CUfunction function_;
  LaunchGrid grid_;
};

}  // namespace tessera::cuda
