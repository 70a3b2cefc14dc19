// Faults of the driver, as a test asks for them. The plug-in of tests/fault/cuda puts them before every function of
// libcuda, a real one or the fake; it exports tessera_driver_faults().
#pragma once

namespace tessera::fault {

/// Which calls of the driver fail, counted from the moment that the plan is made.
struct FaultPlan {
  const char* function = "";  ///< as NVIDIA documents it, "cuMemAlloc"; "" for all functions together
  long first = 0;             ///< the first call that fails; 0: none does
  long last = 0;              ///< the last one
  int code = 0;               ///< what they answer, a CUresult
};

struct DriverFaults {
  void (*plan)(const FaultPlan& plan);
  /// Calls since the plan was made.
  long (*calls)();
  /// Objects that were made and not released.
  long (*objects)();
  /// Releases that failed, by plan or by the driver: what they were to release may stay.
  long (*refused_releases)();
  /// The objects by kind, as text: "stream 1, event 3".
  const char* (*describe_objects)();
};

using DriverFaultsFunction = const DriverFaults* (*)();

/// A plan for the very first calls, before anybody can ask for the function above: "FIRST:LAST:CODE".
inline constexpr const char* kFaultsVariable = "TESSERA_TEST_DRIVER_FAULTS";

}  // namespace tessera::fault
