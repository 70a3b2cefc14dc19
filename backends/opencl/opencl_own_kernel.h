// A program's own kernel: OpenCL C of the user's, checked against its declaration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "opencl_kernel.h"
#include "opencl_program.h"

namespace tessera::opencl {

class OpenclOwnKernel final : public backend::OwnKernel {
 public:
  OpenclOwnKernel(std::unique_ptr<CompiledKernel> kernel, const std::vector<Parameter>& parameters);

  [[nodiscard]] OwnKernelLimits limits() const override { return limits_; }
  void launch(backend::Queue& queue, const LaunchShape& shape, std::span<const backend::Argument> arguments) override;

 private:
  void check_required_group(const Extent3& group) const;

  std::unique_ptr<CompiledKernel> kernel_;
  OwnKernelLimits limits_;
  std::array<std::size_t, 3> required_group_;
};

/// Compiles the source and checks its kernel against the declaration: see backend::Device::compile.
[[nodiscard]] std::unique_ptr<OpenclOwnKernel> compile_own_kernel(const std::shared_ptr<OpenclContext>& context,
                                                                  OpenclPrograms& programs, const KernelSource& source);

}  // namespace tessera::opencl
