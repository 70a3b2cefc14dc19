// The plug-in with faults, opened by itself: its backend at the seam, without the front half, and what a test may do to
// the driver and to the fake card. Ends the program where something of it is not there.
#pragma once

#include "backend/backend.h"
#include "fault/cuda/driver_faults.h"
#include "fault/cuda/fake_card_controls.h"

namespace tessera::fault {

/// The file is named by the variable TESSERA_TEST_PLUGIN.
[[nodiscard]] backend::Backend& plugin_backend();
[[nodiscard]] const DriverFaults& driver_faults();
/// Null on a machine with a driver of its own.
[[nodiscard]] const fake::CardControls* fake_card();

}  // namespace tessera::fault
