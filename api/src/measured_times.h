// Measured times of kernels, kept on disk between processes, so that explain() can report them.
#pragma once

#include <tessera/device.h>

#include <optional>
#include <string>
#include <string_view>

namespace tessera::detail {

/// Everything that the time depends on: operator, problem, variant, tuning, device, driver and library.
[[nodiscard]] std::string measured_time_key(std::string_view operator_name, const std::string& problem,
                                            const DeviceInfo& device, const std::string& variant, const Tuning& tuning);
void store_time(const std::string& key, double seconds);
[[nodiscard]] std::optional<double> find_time(const std::string& key);

}  // namespace tessera::detail
