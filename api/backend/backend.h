// The seam: what a backend implements. Arguments that arrive here have been checked by the front half; a backend may
// assert. Everything that fails throws tessera::Error with the native code, translated in the backend's <b>_error
// alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tessera/device.h>
#include <tessera/error.h>
#include <tessera/launch_facts.h>
#include <tessera/own_kernel.h>
#include <tessera/version.h>

#include "backend/operator_table.h"
#include "backend/plugin_fingerprint.h"

namespace tessera::backend {

/// Raised whenever anything in api/backend changes: a plug-in of another version is refused.
inline constexpr std::uint32_t kSeamVersion = 9;

/// Memory on a device. Freed by the destructor, which does not throw.
class Buffer {
 public:
  virtual ~Buffer() = default;
};

/// Part of a buffer.
struct Slice {
  Buffer* buffer = nullptr;
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;
};

/// Host memory that the driver knows. Freed by the destructor.
class PinnedMemory {
 public:
  virtual ~PinnedMemory() = default;
  [[nodiscard]] virtual void* data() const noexcept = 0;
};

/// A point on a queue. All functions may be called from any thread.
class Event {
 public:
  virtual ~Event() = default;
  virtual void wait() = 0;                   ///< blocks; throws if a command before it failed
  [[nodiscard]] virtual bool is_done() = 0;  ///< does not block; throws likewise
  /// Seconds from `start`, an event of the same device that is done, to this one, which is done.
  [[nodiscard]] virtual double seconds_since(Event& start) = 0;
};

/// The commands of a queue that may have caused its failure: the numbers given to Queue::set_command. `first` beyond
/// `last` means none of them: the fault came from another queue of the device.
struct Suspects {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< equal to first where the backend knows exactly
};

/// An ordered line of work. The front half numbers the commands and calls from one thread at a time, with one
/// exception: finish() and drain() may run on several threads, and while other functions are called. Everything but
/// these two returns before the work is done. The destructor runs only after drain() answered true or finish()
/// succeeded. Refusals (invalid_argument, unsupported) queue nothing; any other error may leave part of a command
/// queued.
class Queue {
 public:
  virtual ~Queue() = default;

  /// `host` is alive and unchanged until the queue is past the command.
  virtual void upload(const Slice& destination, const void* host) = 0;
  virtual void download(void* host, const Slice& source) = 0;
  /// Both on this queue's device, of equal size, not overlapping.
  virtual void copy(const Slice& destination, const Slice& source) = 0;
  /// Repeats `pattern`, 1, 2, 4 or 8 bytes long, over the slice, whose size and offset are multiples of its length.
  virtual void fill(const Slice& destination, std::span<const std::byte> pattern) = 0;

  /// A point after everything queued so far.
  [[nodiscard]] virtual std::unique_ptr<Event> record() = 0;
  /// What is queued from here on runs after `event`, which is of a queue of the same device.
  virtual void wait(Event& event) = 0;
  /// Blocks until everything queued is done; throws the first error.
  virtual void finish() = 0;
  /// Blocks until nothing that was queued runs any more or touches memory, whether it succeeded or failed. True: it is
  /// so, for certain; of a lost device it is. False: the driver does not tell, though asked again. Then everything that
  /// the queue uses is kept, and drain() is called again later. Works on a queue that has failed, and after finish()
  /// threw.
  [[nodiscard]] virtual bool drain() noexcept = 0;

  /// After finish(), Event::wait() or is_done() threw: which commands may have done it.
  [[nodiscard]] virtual Suspects suspects() const = 0;

  /// Notes every launch of a kernel function from here on, until watched_launches() gives the notes. Only of backends
  /// whose driver says something of its functions.
  virtual void watch_launches() {}
  [[nodiscard]] virtual std::vector<LaunchFacts> watched_launches() { return {}; }

  /// The number of the command that is queued next.
  void set_command(std::uint64_t number) noexcept { command_ = number; }
  [[nodiscard]] std::uint64_t command() const noexcept { return command_; }

 private:
  std::uint64_t command_ = 0;
};

/// Where prepared weights begin in a buffer: a multiple of this.
inline constexpr std::size_t kPreparedAlignment = 4096;

/// A variant bound to a problem, compiled.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Memory of the device that a run needs beside its operands. Asked once, after make().
  [[nodiscard]] virtual std::size_t workspace_bytes() const { return 0; }
  /// Of operators with weights: size of the form that launch() wants them in; 0 if it takes them as the operator's
  /// Operands document them. Asked once, after make().
  [[nodiscard]] virtual std::size_t prepared_bytes() const { return 0; }
  /// Memory of the device that the kernel itself holds, from make() on until it goes. Asked once, after make().
  [[nodiscard]] virtual std::size_t held_bytes() const { return 0; }
  /// Queues the preparation of raw `weights` into `prepared`, which is at least prepared_bytes() long and begins at a
  /// multiple of kPreparedAlignment in its buffer. Called only if prepared_bytes() is not 0. `workspace` as in
  /// launch().
  virtual void prepare(Queue& queue, const Slice& weights, const Slice& prepared, const Slice& workspace) {
    static_cast<void>(queue), static_cast<void>(weights), static_cast<void>(prepared), static_cast<void>(workspace);
  }
  /// Queues one run. Operands stand in the order of the operator's Operands struct; one that the problem does without
  /// is null. Weights are prepared if prepared_bytes() is not 0, always: where the program gives raw ones, the front
  /// half calls prepare() first. `workspace` begins at a buffer's start, is at least workspace_bytes() long (null if
  /// that is 0), holds anything, and is this run's until it ends.
  virtual void launch(Queue& queue, std::span<const Slice> operands, const Slice& workspace) = 0;
};

/// One argument of an own kernel's launch, checked against the declaration.
struct Argument {
  ParameterKind kind = ParameterKind::scalar;
  DataType type = DataType::float32;
  Slice buffer;                       ///< of inputs and outputs
  std::array<std::byte, 8> scalar{};  ///< the first size_bytes(type) bytes
  std::size_t local_bytes = 0;        ///< of local memory
};

/// A program's own kernel, compiled.
class OwnKernel {
 public:
  virtual ~OwnKernel() = default;
  [[nodiscard]] virtual OwnKernelLimits limits() const = 0;
  virtual void launch(Queue& queue, const LaunchShape& shape, std::span<const Argument> arguments) = 0;
};

/// One opened device. Called from several threads at once.
class Device {
 public:
  virtual ~Device() = default;
  /// The facts, memory_free_bytes as of now. `id`, `backend` and `chosen_because` are filled in by the front half.
  [[nodiscard]] virtual DeviceInfo info() const = 0;
  /// Size is at least 1. Throws out_of_memory, and then leaves the device usable. Aligned to at least 64 bytes; OpenCL
  /// promises no more than its CL_DEVICE_MEM_BASE_ADDR_ALIGN.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(std::size_t size_bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<PinnedMemory> allocate_pinned(std::size_t size_bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<Queue> make_queue() = 0;
  /// Throws unsupported if `source` holds nothing for this backend, build_failed with the whole log, and
  /// invalid_argument if the compiled kernel's parameters are not the declared ones.
  [[nodiscard]] virtual std::unique_ptr<OwnKernel> compile(const KernelSource& source) = 0;

  /// Names the memory that allocate() takes from. Devices that answer alike, of one backend or of several, share it:
  /// when one of them runs out, the front half empties the caches of all. "host" for the machine's own memory, "pci
  /// 0000:01:00.0" for a card's.
  [[nodiscard]] virtual std::string memory_name() const = 0;
  /// What the backend itself holds of that memory beside buffers and pinned memory: kernels' scratch, vendors'
  /// workspaces.
  [[nodiscard]] virtual std::uint64_t held_bytes() const { return 0; }
  /// Gives back what of it lies idle, and returns how much that was. Waits for no queue.
  virtual std::uint64_t trim() noexcept { return 0; }
  /// Called once, before anything else. `reclaim` empties this process's caches of the memory and answers whether that
  /// gave any back. A command that runs out of memory while it executes calls it and tries once more; what is called by
  /// the front half need not, because the front half does. Waits for no queue, so that a queue's own thread may call
  /// it.
  virtual void set_reclaim(std::function<bool()> reclaim) { static_cast<void>(reclaim); }
};

/// Options behind the '?' of a device name: "threads=4".
using DeviceOptions = std::map<std::string, std::string>;

/// An option that a backend's devices take.
struct DeviceOption {
  std::string name;
  std::string meaning;
};

/// Is there anything to work with?
struct Probe {
  bool ready = false;
  std::string reason;  ///< one sentence: what was found, or why there is nothing
};

/// One way of reaching devices. One object a process, never destroyed. In a child process of fork() the front half
/// calls nothing of what was made before, and destroys none of it.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;           ///< "cpu_tbb"
  [[nodiscard]] virtual std::string_view device_prefix() const = 0;  ///< "cpu"
  /// Opens the driver. Called before anything below, and once, unless it threw because the process had no memory left:
  /// then again. Does not throw for what is merely absent.
  [[nodiscard]] virtual Probe probe() = 0;
  /// Every device, in the order of its index. Cheap: opens none.
  [[nodiscard]] virtual std::vector<DeviceInfo> devices() = 0;
  [[nodiscard]] virtual std::vector<DeviceOption> device_options() const { return {}; }
  /// Throws invalid_argument for a bad option value.
  [[nodiscard]] virtual std::unique_ptr<Device> open(std::size_t index, const DeviceOptions& options) = 0;
  [[nodiscard]] virtual const OperatorTable& operators() const = 0;
  /// Asked in a child process of fork(), whose parent had called probe(): can devices still be opened here?
  [[nodiscard]] virtual bool works_after_fork() const { return false; }
};

/// What a plug-in's one symbol returns. Plain data, so that every compiler lets a C function return it. The first two
/// stay as they are in every version of the seam; the others are read only where those are the reader's own.
struct PluginEntry {
  std::uint32_t seam_version;
  const char* tessera_version;  ///< TESSERA_VERSION of the headers that it was built with
  const char* fingerprint;      ///< plugin_fingerprint() as its compiler saw it
  Backend* (*make)();           ///< called once, if all of the above are the library's own; may throw. Not owned
};

/// The type of that symbol, `tessera_backend_entry`. It is given the version that the front half speaks.
using PluginEntryFunction = PluginEntry (*)(std::uint32_t seam_version);

}  // namespace tessera::backend

/// Exports a plug-in's entry: `TESSERA_BACKEND_PLUGIN(tessera::cuda::CudaBackend)`.
#define TESSERA_BACKEND_PLUGIN(BackendClass)                                                             \
  extern "C" __attribute__((visibility("default"))) tessera::backend::PluginEntry tessera_backend_entry( \
      std::uint32_t) {                                                                                   \
    static constexpr auto fingerprint = tessera::backend::plugin_fingerprint();                          \
    return {tessera::backend::kSeamVersion, TESSERA_VERSION, fingerprint.text.data(),                    \
            []() -> tessera::backend::Backend* {                                                         \
              return new BackendClass; /* never destroyed */                                             \
            }};                                                                                          \
  }
