// Kernels: a compiled kernel function with its lock, and an operator's kernel, which launches one or several of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
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

/// Memory that a launch works on: an operand, the workspace or the queue's counters, from an element of it on. Takes
/// two parameters of the kernel: the buffer and, as ulong, the first element in it.
struct MemoryArgument {
  static constexpr std::size_t kWorkspace = static_cast<std::size_t>(-1);
  static constexpr std::size_t kCounters = static_cast<std::size_t>(-2);  ///< OpenclQueue::counters()

  std::size_t place = 0;              ///< the operand's place in the operator's Operands, or one of these
  DataType type = DataType::float32;  ///< what the elements are
  std::uint64_t first_element = 0;    ///< counted from where the operand or the workspace begins
};

/// One launch of an operator's run: a kernel function of its own, its shape, and the memory that its parameters begin
/// with. The structs of scalars behind them are set once, by whoever makes it; a launch in rounds has the
/// number of its round, a long, as its last parameter.
struct OperatorLaunch {
  std::unique_ptr<CompiledKernel> kernel;
  NdRange range;
  std::vector<MemoryArgument> memory;
  cl_uint struct_count = 0;

  /// Scalars come in structs alone, whose size both sides assert: see ops/host_struct.cl.
  template <class... Structs>
  requires(std::is_class_v<Structs>&&...) void set_structs(const Structs&... structs) {
    struct_count = sizeof...(Structs);
    auto index = static_cast<cl_uint>(2 * memory.size());
    (kernel->set(index++, structs), ...);
  }
};

/// Queues a launch: sets its memory, and `round` as the last parameter if it is given. `stage` as OpenclQueue::launch()
/// takes it.
void enqueue(const OperatorLaunch& launch, OpenclQueue& queue, std::span<const backend::Slice> operands,
             const backend::Slice& workspace, std::optional<cl_long> round, Stage stage);

/// How weights get the form that an operator's launches read. In its launches operand 0 is the raw weights, operand 1
/// the prepared ones.
struct Preparation {
  std::vector<OperatorLaunch> launches;
  std::size_t size_bytes = 0;  ///< of the prepared form; 0: weights are read raw
};

/// The launches of a run, one after another. One whose shape is empty is left out.
struct OperatorRun {
  std::vector<OperatorLaunch> launches;
  /// So many times over, where the kernels take the number of the round; else once.
  std::optional<std::int64_t> rounds = {};
};

/// An operator's kernel: launches of fixed shape.
class OpenclKernel final : public backend::Kernel {
 public:
  explicit OpenclKernel(OperatorRun run, std::size_t workspace_bytes = 0, Preparation preparation = {});
  explicit OpenclKernel(std::vector<OperatorLaunch> launches, std::size_t workspace_bytes = 0,
                        Preparation preparation = {});
  explicit OpenclKernel(OperatorLaunch launch, Preparation preparation = {});

  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_bytes_; }
  [[nodiscard]] std::size_t prepared_bytes() const override { return preparation_.size_bytes; }
  void prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
               const backend::Slice& workspace) override;
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override;

 private:
  OperatorRun run_;
  std::size_t workspace_bytes_;
  Preparation preparation_;
};

}  // namespace tessera::opencl
