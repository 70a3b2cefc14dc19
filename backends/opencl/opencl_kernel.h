// Kernels: a compiled kernel function with its lock, and the operator kernel that most variants are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "opencl_context.h"
#include "opencl_queue.h"

namespace tessera::opencl {

/// One kernel function. OpenCL keeps arguments in the kernel object, so setting them and launching is one step under
/// the lock: several queues may launch the same kernel from several threads.
class CompiledKernel {
 public:
  CompiledKernel(std::shared_ptr<OpenclContext> context, cl_program program, std::string name);

  [[nodiscard]] const OpenclContext& context() const noexcept { return *context_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] cl_kernel native() const noexcept { return kernel_.get(); }
  [[nodiscard]] std::mutex& mutex() const noexcept { return mutex_; }

  [[nodiscard]] cl_uint argument_count() const;
  /// The most work-items that a group of this kernel can have on this device.
  /// The most work-items that a group of this kernel can have on this device.
  [[nodiscard]] std::uint64_t max_group_size() const;
  /// What the kernel itself declares and what is set for its local parameters.
  [[nodiscard]] std::uint64_t local_memory_bytes() const;
  [[nodiscard]] std::uint64_t preferred_group_multiple() const;
  /// The work-group that the kernel insists on; zeros if it does not.
  [[nodiscard]] std::array<std::size_t, 3> required_group() const;

  /// Sets an argument. A null `value` asks for local memory.
  void set(cl_uint index, std::size_t size_bytes, const void* value) const;
  template <class Value>
  void set(cl_uint index, const Value& value) const {
    set(index, sizeof(Value), &value);
  }

 private:
  template <class Value>
  [[nodiscard]] Value ask(cl_kernel_work_group_info what) const;

  std::shared_ptr<OpenclContext> context_;
  std::string name_;
  Handle<cl_kernel> kernel_;
  mutable std::mutex mutex_;
};

/// An operator's kernel that runs in one launch of fixed shape. Its parameters begin with two for each operand, in the
/// order of the operator's Operands: the buffer and, as ulong, the operand's first element in it. Whoever makes it sets
/// the rest, from first_scalar() on, once.
class OperatorKernel final : public backend::Kernel {
 public:
  /// `operand_types`: what the offsets count.
  OperatorKernel(std::unique_ptr<CompiledKernel> kernel, const NdRange& range, std::vector<DataType> operand_types);

  [[nodiscard]] cl_uint first_scalar() const noexcept { return static_cast<cl_uint>(2 * operand_types_.size()); }
  /// Sets the arguments from first_scalar() on, in order.
  template <class... Values>
  void set_scalars(const Values&... values) {
    cl_uint index = first_scalar();
    (kernel_->set(index++, values), ...);
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override;

 private:
  std::unique_ptr<CompiledKernel> kernel_;
  NdRange range_;
  std::vector<DataType> operand_types_;
};

}  // namespace tessera::opencl
