// What every operator's kernel on CUDA is made of: functions of an embedded image, each with a grid and one struct of
// arguments.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "cuda_context.h"
#include "cuda_queue.h"

namespace tessera::cuda {

/// A function of an embedded image with the grid that it is launched with. The operators' functions take exactly one
/// parameter, a struct by value that host and device code share through a header (ops/<op>/<op>_arguments.h).
class CudaFunction {
 public:
  CudaFunction(std::shared_ptr<Context> context, const Image& image, const std::string& function, LaunchGrid grid)
      : context_(std::move(context)), function_(context_->function(image, function)), grid_(grid) {}

  /// Queues one run. The struct is copied before this returns; nothing is allocated.
  template <class Arguments>
  void enqueue(backend::Queue& queue, Arguments& arguments) const {
    enqueue(queue, arguments, grid_);
  }
  /// The same with a grid of its own.
  template <class Arguments>
  void enqueue(backend::Queue& queue, Arguments& arguments, const LaunchGrid& grid) const {
    void* parameters[] = {&arguments};
    static_cast<CudaQueue&>(queue).launch(function_, grid, parameters);
  }

 private:
  std::shared_ptr<Context> context_;  // the function lives as long as its context
  CUfunction function_;
  LaunchGrid grid_;
};

/// A kernel of one function. A derived class keeps the struct filled in but for the operands' addresses.
class CudaKernel : public backend::Kernel {
 protected:
  CudaKernel(std::shared_ptr<Context> context, const Image& image, const std::string& function, LaunchGrid grid)
      : function_(std::move(context), image, function, grid) {}

  template <class Arguments>
  void enqueue(backend::Queue& queue, Arguments& arguments) const {
    function_.enqueue(queue, arguments);
  }

 private:
  CudaFunction function_;
};

}  // namespace tessera::cuda
