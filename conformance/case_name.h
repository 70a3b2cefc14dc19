// Numbers in names of cases, which hold letters, digits and '_' only.
#pragma once

#include <string>

namespace tessera::conformance {

/// "0p5", "m3", "1e_06": with 'p' for the point, 'm' for a minus and '_' for a plus.
[[nodiscard]] std::string number_for_name(double value);

}  // namespace tessera::conformance
