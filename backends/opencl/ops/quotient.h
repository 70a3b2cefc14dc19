// The text of quotient.cl: what every operator's program begins with.
#pragma once

#include <string_view>

extern "C" const unsigned char tessera_opencl_quotient[];
extern "C" const unsigned long tessera_opencl_quotient_size;

namespace tessera::opencl {

[[nodiscard]] inline std::string_view quotient_text() noexcept {
  return {reinterpret_cast<const char*>(tessera_opencl_quotient), tessera_opencl_quotient_size};
}

}  // namespace tessera::opencl
