// What the OpenCL driver is to get wrong: the hold that tests have on a plug-in which was built with opencl_faults.cpp
// in front of the driver.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tessera::fault {

/// All functions may be called from any thread. Calls that release something never fail.
class OpenclFaults {
 public:
  /// The `number`-th call from now on, counted from 1, fails with the OpenCL code; with `for_good`, all behind it too.
  virtual void fail_call(long number, int code, bool for_good) = 0;
  /// Calls of the function, "clFinish", fail with the code: from the `first`-th on, counted from 1 and from now, and no
  /// more than `count` of them if that is not 0.
  virtual void fail_function(std::string_view function, int code, long first = 1, long count = 0) = 0;
  /// Every call of the function comes so much later.
  virtual void delay_function(std::string_view function, int milliseconds) = 0;
  /// A blocking write returns as soon as it has read the host's bytes, which is all that the standard promises. They
  /// reach the memory so much later.
  virtual void delay_blocking_writes(int milliseconds) = 0;
  /// The device stops as a command that crashes stops it: what runs ends, and everything fails from then on.
  virtual void lose_device() = 0;
  /// The driver is well again.
  virtual void clear() = 0;

  /// Calls that could have failed, since the last of the functions above.
  [[nodiscard]] virtual long calls() const = 0;
  /// Calls that did fail, in the same time, and the last of them.
  [[nodiscard]] virtual long failures() const = 0;
  [[nodiscard]] virtual std::string last_failed() const = 0;
  /// Calls of a function since the plug-in was loaded.
  [[nodiscard]] virtual long calls_of(std::string_view function) const = 0;

  /// Objects that are alive, by kind; those of which there are none are left out.
  [[nodiscard]] virtual std::map<std::string, long> alive() const = 0;
  /// Queues alive that were given a command of which the driver never said since that it is done.
  [[nodiscard]] virtual long unconfirmed_queues() const = 0;

 protected:
  ~OpenclFaults() = default;
};

/// The symbol by which the plug-in is asked for it.
inline constexpr const char* kOpenclFaultsSymbol = "tessera_opencl_faults";
using OpenclFaultsFunction = OpenclFaults*();

/// "12:-6" or "12:-6:for_good" in this variable is fail_call() before the plug-in's first call.
inline constexpr const char* kOpenclFaultsVariable = "TESSERA_TEST_OPENCL_FAULT";

}  // namespace tessera::fault
