// A program's own kernel: CUDA C++ compiled by NVRTC, checked against its declaration, and launched.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "cuda_context.h"

namespace tessera::cuda {

class CudaOwnKernel final : public backend::OwnKernel {
 public:
  /// Compiles it, or takes the image from the cache on disk. Errors: as backend::Device::compile().
  CudaOwnKernel(std::shared_ptr<Context> context, const KernelSource& source);

  [[nodiscard]] OwnKernelLimits limits() const override { return limits_; }
  void launch(backend::Queue& queue, const LaunchShape& shape, std::span<const backend::Argument> arguments) override;

 private:
  void load(const KernelSource& source);
  /// Compares the declaration with what the compiler made of the source.
  void check_parameters(const KernelSource& source) const;
  void ask_limits(const KernelSource& source);
  [[nodiscard]] int function_attribute(CUfunction_attribute which) const;

  std::shared_ptr<Context> context_;
  std::string name_;
  std::unique_ptr<Module> module_;  // before the context goes
  CUfunction function_ = nullptr;
  OwnKernelLimits limits_;
};

}  // namespace tessera::cuda
