// The devices that this run tests: every one present, or those of one backend. Each is opened once and shared, so that
// a kernel compiled for one test serves the next.
#pragma once

#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::testing_support {

/// Limits everything below to one backend. Called before anything else here, if at all.
void restrict_to_backend(std::string backend);
/// The backend that the run is limited to, "" if it is not.
[[nodiscard]] const std::string& restricting_backend();

/// Ids of the devices under test: {"cuda:0", "cpu:0"}.
[[nodiscard]] const std::vector<std::string>& device_ids();

/// The shared device. Opened on first use.
[[nodiscard]] const Device& shared_device(const std::string& id);

/// "cuda:0" as test names write it: "cuda_0".
[[nodiscard]] std::string name_for_tests(const std::string& id);

}  // namespace tessera::testing_support
