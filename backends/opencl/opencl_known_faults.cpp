// The list, and how it is asked.
#include "opencl_known_faults.h"

#include <array>
#include <cstdlib>

#include "backend/sentence.h"

namespace tessera::opencl {

namespace {

struct KnownFault {
  std::string_view driver;    ///< DeviceInfo::driver, the platform's name
  std::string_view versions;  ///< what DeviceInfo::driver_version begins with
  std::string_view operator_name;
  std::string_view variant;
  std::string_view what;  ///< behind the driver's name and version
};

// Seen by running the conformance tests. Mesa's rusticl on llvmpipe, 22.3.6 of Debian 12: all other variants pass.
constexpr std::array kKnownFaults{
    KnownFault{"rusticl", "22.", "conv2d", "separable", "crashes on the kernels that march"},
    KnownFault{"rusticl", "22.", "conv2d", "marching", "crashes on the kernels that march"},
    KnownFault{"rusticl", "22.", "cnn_layer", "subtile", "gives wrong sums for some tiles"},
};

}  // namespace

backend::Verdict check_known_faults(std::string_view operator_name, std::string_view variant,
                                    const DeviceFacts& facts) {
  const DeviceInfo& info = facts.info;
  for (const KnownFault& fault : kKnownFaults) {
    if (info.driver == fault.driver && info.driver_version.starts_with(fault.versions) &&
        operator_name == fault.operator_name && variant == fault.variant) {
      return backend::Verdict::no(backend::sentence("the driver ", info.driver, " ", info.driver_version, " of '",
                                                    info.name, "' ", fault.what));
    }
  }
  return backend::Verdict::yes();
}

bool loses_sums_of_slices(const DeviceInfo& info) {
  constexpr long kLastRight = 3;
  return info.driver == "Portable Computing Language" &&
         std::strtol(info.driver_version.c_str(), nullptr, 10) > kLastRight;
}

}  // namespace tessera::opencl
