// The version of the library that is running.
#include <tessera/version.h>

namespace tessera {

std::string_view version() noexcept {
  return TESSERA_VERSION;
}
std::string_view commit() noexcept {
  return TESSERA_COMMIT;
}

}  // namespace tessera
