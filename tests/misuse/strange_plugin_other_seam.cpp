// A plug-in that was built against another version of the seam.
#include "backend/backend.h"

#include <tessera/version.h>

extern "C" __attribute__((visibility("default"))) tessera::backend::PluginEntry tessera_backend_entry(std::uint32_t) {
  return {.seam_version = 987654, .tessera_version = "9.8.7", .fingerprint = nullptr, .make = nullptr};
}
