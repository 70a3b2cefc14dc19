// The driver's context of one opened device (the primary one, which the CUDA runtime and other libraries of the process
// use too) and what belongs to it as a whole: loaded images, a pool of events, handles of vendors' libraries, work that
// could not be waited for, the limits of the card.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>
#include <vector>

#include "cuda_api.h"
#include "cuda_module.h"

namespace tessera::cuda {

/// What the driver takes of a multiprocessor's shared memory for each group, from sm_80 on.
inline constexpr std::uint64_t kReservedSharedBytes = 1024;

/// What a launch must keep to.
struct DeviceLimits {
  std::array<std::uint64_t, 3> groups{};      ///< of one launch, along x, y and z
  std::array<std::uint64_t, 3> group_size{};  ///< of one group, along x, y and z
  std::uint64_t group_volume = 0;
  std::uint64_t shared_bytes = 0;                 ///< of one group, static and dynamic together
  std::uint64_t multiprocessor_shared_bytes = 0;  ///< of all groups on one, with kReservedSharedBytes for each
  std::uint32_t warp_size = 0;
  std::uint32_t multiprocessors = 0;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
};

/// One number that the driver tells about a card.
[[nodiscard]] int attribute(CUdevice device, CUdevice_attribute which);

/// What a vendor's library keeps for a context, made on first use.
class Companion {
 public:
  Companion() = default;
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  virtual ~Companion() = default;  ///< the context is current, and nothing of it runs any more

 private:
  friend class Context;
  std::uint64_t held_bytes_ = 0;
};

/// Work that failed and that the driver does not say to be over, with all that it uses. The destructor runs only after
/// is_over() answered true.
class UnfinishedWork {
 public:
  UnfinishedWork() = default;
  UnfinishedWork(const UnfinishedWork&) = delete;
  UnfinishedWork& operator=(const UnfinishedWork&) = delete;
  virtual ~UnfinishedWork() = default;
  [[nodiscard]] virtual bool is_over() noexcept = 0;

 private:
  friend class Context;
  std::unique_ptr<UnfinishedWork> next_;
};

/// Everything made on a device shares ownership of it, so it goes last. Called from any thread.
class Context {
 public:
  explicit Context(CUdevice device);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  [[nodiscard]] const DriverApi& api() const noexcept { return api_; }
  [[nodiscard]] CUdevice device() const noexcept { return device_; }
  [[nodiscard]] const DeviceLimits& limits() const noexcept { return limits_; }

  /// Makes the context this thread's current one. Asks the driver each time, because the application may have changed
  /// it behind our back; asking is a read of thread-local memory. What was current before is not restored.
  void make_current() const;
  /// The same, with the driver's answer.
  [[nodiscard]] CUresult set_current() const noexcept;
  /// The same for destructors, which ask more than once: false if the driver goes on refusing.
  [[nodiscard]] bool try_make_current() const noexcept;

  /// A kernel of an embedded image, which is loaded on first use.
  [[nodiscard]] CUfunction function(const Image& image, const char* kernel);
  [[nodiscard]] CUfunction function(const Image& image, const std::string& kernel) {
    return function(image, kernel.c_str());
  }

  /// What a vendor's library keeps for a context: one Kind, which is a Companion, for all; made as Kind(*this) with the
  /// context current, and destroyed by trim() or with the context, current too. Its constructor may throw; then nothing
  /// is kept. A kernel holds it for as long as its runs may need it.
  template <class Kind>
  [[nodiscard]] std::shared_ptr<Kind> companion() {
    const std::lock_guard lock(companions_mutex_);
    std::shared_ptr<Companion>& kept = companions_[typeid(Kind)];
    if (kept == nullptr) {
      make_current();
      const std::uint64_t free = free_bytes();
      kept = std::make_shared<Kind>(*this);
      note_held(*kept, free);
    }
    return std::static_pointer_cast<Kind>(kept);
  }

  /// Memory of the card that is free, or 0 if the driver does not tell. The context is current.
  [[nodiscard]] std::uint64_t free_bytes() const noexcept;
  /// Memory of the card that the companions hold.
  [[nodiscard]] std::uint64_t held_bytes() noexcept;
  /// Destroys what lies idle: events of the pool, companions that no kernel holds, unfinished work that has ended.
  /// Returns how much memory of the card the companions gave back.
  std::uint64_t trim() noexcept;

  /// Keeps the work, and with it this context, until a later trim() finds it over.
  void park(std::unique_ptr<UnfinishedWork> work) noexcept;

  /// An event with timing, from the pool where it has one.
  [[nodiscard]] CUevent take_event();
  void give_event(CUevent event) noexcept;

 private:
  /// Notes what became of the free memory since there were `free_before` bytes: nobody else tells what a library takes.
  void note_held(Companion& companion, std::uint64_t free_before) const noexcept;
  void destroy_idle_events() noexcept;

  const DriverApi& api_;
  CUdevice device_;
  DeviceLimits limits_;
  CUcontext context_ = nullptr;
  ModuleCache modules_;
  std::mutex events_mutex_;
  std::vector<CUevent> idle_events_;
  std::mutex companions_mutex_;
  std::map<std::type_index, std::shared_ptr<Companion>> companions_;
  std::mutex unfinished_mutex_;
  std::unique_ptr<UnfinishedWork> unfinished_;  ///< the newest; a list, because keeping one more must not allocate
};

}  // namespace tessera::cuda
