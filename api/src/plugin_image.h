// Which build of a plug-in is loaded.
#pragma once

#include <string>

namespace tessera::detail {

/// The build id that the linker gave the library which holds this address, a hash of all that is in it, in hexadecimal
/// digits; "" if it was linked without. Read from memory.
[[nodiscard]] std::string build_id_of(const void* address);

}  // namespace tessera::detail
