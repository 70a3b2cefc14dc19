// A driver without the library: what the library's own cost is compared with. One class a driver, each opened at run
// time and written as a program would that knows only that driver.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include <tessera/device.h>

namespace tessera::benchmarks {

/// A driver that is not there, or whose answer is an error.
class DriverError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One device, one in-order queue, one tiny kernel and two blocks of memory.
class BareDriver {
 public:
  virtual ~BareDriver() = default;
  /// Queues the tiny kernel (tiny_kernel.h).
  virtual void launch() = 0;
  virtual void finish() = 0;
  /// What the tiny kernel wrote: 1.5 * 2. Blocks.
  [[nodiscard]] virtual float result() = 0;
  /// Takes device memory and pinned host memory of this size for upload() and download().
  virtual void prepare_copies(std::size_t size_bytes) = 0;
  virtual void upload() = 0;    ///< queues the copy of all of it
  virtual void download() = 0;  ///< likewise
};

/// The same card as `info` through libcuda. Throws DriverError.
[[nodiscard]] std::unique_ptr<BareDriver> open_bare_cuda(const DeviceInfo& info);
/// The same device as `info` through libOpenCL. Throws DriverError.
[[nodiscard]] std::unique_ptr<BareDriver> open_bare_opencl(const DeviceInfo& info);

/// Opens a driver's library for good. Throws DriverError with the loader's words.
[[nodiscard]] void* open_driver_library(const char* name);
/// Address of a function. Throws DriverError if it is not there.
[[nodiscard]] void* driver_function(void* library, const char* name);

}  // namespace tessera::benchmarks
