// A plug-in from another time: it speaks a seam that this library does not.
#include "backend/backend.h"

extern "C" __attribute__((visibility("default"))) tessera::backend::PluginEntry tessera_backend_entry(std::uint32_t) {
  return {tessera::backend::kSeamVersion + 1, "99.0.0", nullptr, nullptr};
}
