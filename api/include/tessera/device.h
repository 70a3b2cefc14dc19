// Finding and opening devices, asking what they are, taking memory on them and making kernels for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/buffer.h>
#include <tessera/error.h>
#include <tessera/export.h>
#include <tessera/kernel.h>
#include <tessera/own_kernel.h>

namespace tessera {

enum class DeviceKind : std::uint8_t { cpu, gpu, accelerator };
[[nodiscard]] TESSERA_API std::string_view to_string(DeviceKind kind) noexcept;

/// The facts about a device. A fact that the driver does not give is 0 or "".
struct DeviceInfo {
  std::string id;       ///< the name it is opened by: "cuda:0"
  std::string backend;  ///< "cuda"
  std::string name;     ///< "NVIDIA H200"
  std::string vendor;
  std::string driver;          ///< which driver: "NVIDIA CUDA", "Portable Computing Language"
  std::string driver_version;  ///< the driver's own version
  std::string api_version;     ///< of the API that the driver offers: "OpenCL 3.0", "CUDA 13.0"
  DeviceKind kind = DeviceKind::cpu;
  std::uint64_t memory_total_bytes = 0;
  std::uint64_t memory_free_bytes = 0;  ///< when info() was called; 0 where the driver does not say
  std::uint64_t cache_bytes = 0;        ///< of the largest cache before memory: a GPU's second level
  std::uint32_t compute_units = 0;      ///< multiprocessors, cores or threads that run at once
  std::uint64_t max_group_size = 0;     ///< work-items of one work-group
  std::array<std::uint64_t, 3> max_group_extent{};
  std::uint64_t local_memory_bytes = 0;    ///< of one work-group
  std::uint64_t max_allocation_bytes = 0;  ///< of one buffer
  bool has_float64 = false;
  bool has_float16 = false;
  bool unified_memory = false;    ///< the device computes in the host's memory
  double timer_resolution_s = 0;  ///< the smallest time that events tell apart
  std::string instruction_set;    ///< "AVX-512", "sm_90"
  std::string pci_address;        ///< "0000:01:00.0"; equal for two ids of the same card
  std::string uuid;               ///< 32 hex digits; equal for two ids of the same card
  std::string chosen_because;     ///< why open() without a name took it; "" when it was named
};

/// What became of a backend that was looked for.
enum class BackendState : std::uint8_t {
  ready,        ///< loaded, and it has at least one device
  unavailable,  ///< loaded, but there is no driver or no device
  not_found,    ///< no plug-in in any of the folders searched
  refused,      ///< a plug-in is there but does not load or speaks another version of the seam
  disabled,     ///< $TESSERA_BACKENDS does not ask for it, so it was not touched
};
[[nodiscard]] TESSERA_API std::string_view to_string(BackendState state) noexcept;

struct BackendInfo {
  std::string name;  ///< "opencl"
  BackendState state = BackendState::not_found;
  std::string reason;                ///< one sentence: why it is in this state; never ""
  std::string plugin;                ///< path of the plug-in, "" if none was found
  std::vector<std::string> devices;  ///< the ids that it offers
};

/// Every backend that was looked for, with its state and the reason. Looks once a process. Error invalid_argument if
/// $TESSERA_BACKENDS names a backend that does not exist.
[[nodiscard]] TESSERA_API std::vector<BackendInfo> backends();

/// Every device present, best first: the order in which open() chooses.
[[nodiscard]] TESSERA_API std::vector<DeviceInfo> devices();

/// The caching allocator's books for one device, in bytes.
struct MemoryStatistics {
  std::uint64_t in_use_bytes = 0;   ///< in live buffers
  std::uint64_t cached_bytes = 0;   ///< freed by the program, kept for the next allocation
  std::uint64_t pending_bytes = 0;  ///< freed by the program while a queue still uses it
  std::uint64_t peak_bytes = 0;     ///< the most that was in use at once
  std::uint64_t pinned_bytes = 0;   ///< in live pinned buffers: host memory
  std::uint64_t held_bytes = 0;     ///< by kernels and the backend for themselves: tables, scratch, vendors' workspaces
  std::uint64_t allocations = 0;    ///< asked for by the program
  std::uint64_t cache_hits = 0;     ///< of these, served without the driver
};

struct BufferOptions {
  std::string label = {};  ///< named in out-of-memory errors
};

namespace detail {
class DeviceCore;
}

/// One place that computes. Move-only; buffers, queues and kernels keep what they need of it alive. May be used from
/// several threads at once. Opening the same device twice gives two devices that do not share buffers.
class TESSERA_API Device {
 public:
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  /// The facts, memory_free_bytes as of now.
  [[nodiscard]] DeviceInfo info() const;
  /// The name that opens it: "cuda:0".
  [[nodiscard]] const std::string& id() const noexcept;

  /// Memory for `count` elements, uninitialised; 0 elements are allowed. Errors: invalid_argument if the size
  /// overflows, out_of_memory with the largest live buffers named.
  template <class T>
  [[nodiscard]] Buffer<T> allocate(std::size_t count, const BufferOptions& options = {}) const {
    return Buffer<T>(allocate_untyped(data_type_of<T>, count, options));
  }
  /// The same for a type known at run time.
  [[nodiscard]] UntypedView allocate_untyped(DataType type, std::size_t count, const BufferOptions& options = {}) const;

  /// A new buffer that holds a copy of `host`. Blocks until the copy is done, so `host` is free afterwards.
  template <class T>
  [[nodiscard]] Buffer<T> upload(std::span<const std::type_identity_t<T>> host,
                                 const BufferOptions& options = {}) const {
    Buffer<T> buffer = allocate<T>(host.size(), options);
    upload_bytes(buffer.untyped(), host.data());
    return buffer;
  }

  /// Host memory for full-speed copies to and from this device. Errors as allocate().
  template <class T>
  [[nodiscard]] PinnedBuffer<T> allocate_pinned(std::size_t count) const {
    return PinnedBuffer<T>(allocate_pinned_bytes(count, sizeof(T)));
  }

  [[nodiscard]] MemoryStatistics memory() const;
  /// Gives all cached memory back to the driver and returns how many bytes that were.
  std::uint64_t trim() const;

  /// Chooses a variant for the problem, or takes the one that the options force, and compiles it. Where the options
  /// name neither variant nor tuning, what was tuned on this machine comes before the defaults (tessera/tuning.h), and
  /// what the machine's site file says before both. Errors: invalid_argument for a wrong problem, an unknown variant or
  /// tuning value; unsupported, with the reason, for a forced variant that cannot run; build_failed with the compiler's
  /// log.
  template <class Problem>
  [[nodiscard]] OperatorKernel<Problem> kernel(const Problem& problem, const KernelOptions& options = {}) const;

  /// Compiles the program's own kernel for this device's backend. Errors: invalid_argument for a bad declaration;
  /// unsupported if there is no source for this backend; unavailable if its compiler is missing; build_failed with log.
  [[nodiscard]] OwnKernel compile(const KernelSource& source) const;

  [[nodiscard]] const std::shared_ptr<detail::DeviceCore>& core() const noexcept { return core_; }

 private:
  friend TESSERA_API Device open(std::string_view name);
  explicit Device(std::shared_ptr<detail::DeviceCore> core) noexcept;
  void upload_bytes(const UntypedView& destination, const void* host) const;
  [[nodiscard]] detail::PinnedMemory allocate_pinned_bytes(std::size_t count, std::size_t element_bytes) const;

  std::shared_ptr<detail::DeviceCore> core_;
};

/// Opens a device by name: "cuda:0", "opencl:1", "cpu:0?threads=4". Without a name: $TESSERA_DEVICE, or else the first
/// of devices(); info().chosen_because says which and why. Errors: invalid_argument for a name that is no device name
/// or an unknown option; unavailable, with the list of what is there, for a device that is absent. Never another
/// device.
[[nodiscard]] TESSERA_API Device open(std::string_view name = {});

/// Every variant of the problem's operator on this device, best first, with yes, or no and the reason.
template <class Problem>
[[nodiscard]] std::vector<VariantReport> explain(const Problem& problem, const Device& device);

/// Keeps the median device time of one run of a kernel under cache_directory(), for explain() to report.
template <class Problem>
void remember_time(const OperatorKernel<Problem>& kernel, const Device& device, double seconds);

}  // namespace tessera
