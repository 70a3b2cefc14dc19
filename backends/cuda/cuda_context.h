// The driver's context of one opened device (the primary one, which the CUDA runtime and other libraries of the process
// use too) and what belongs to it as a whole: loaded images, a pool of events, the limits of the card.
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
  /// The same for destructors: false if the driver refuses.
  [[nodiscard]] bool try_make_current() const noexcept;

  /// A kernel of an embedded image, which is loaded on first use.
  [[nodiscard]] CUfunction function(const Image& image, const char* kernel);
  [[nodiscard]] CUfunction function(const Image& image, const std::string& kernel) {
    return function(image, kernel.c_str());
  }

  /// What a vendor's library keeps for a context: one Companion for all, made on first use as Companion(*this) with the
  /// context current, and destroyed with the context, current too. Its constructor may throw; then nothing is kept.
  template <class Companion>
  [[nodiscard]] Companion& companion() {
    const std::lock_guard lock(companions_mutex_);
    std::shared_ptr<void>& kept = companions_[typeid(Companion)];
    if (kept == nullptr) {
      make_current();
      kept = std::make_shared<Companion>(*this);
    }
    return *static_cast<Companion*>(kept.get());
  }

  /// An event with timing, from the pool where it has one.
  [[nodiscard]] CUevent take_event();
  void give_event(CUevent event) noexcept;

 private:
  const DriverApi& api_;
  CUdevice device_;
  DeviceLimits limits_;
  CUcontext context_ = nullptr;
  ModuleCache modules_;
  std::mutex events_mutex_;
  std::vector<CUevent> idle_events_;
  std::mutex companions_mutex_;
  std::map<std::type_index, std::shared_ptr<void>> companions_;
};

}  // namespace tessera::cuda
