// A plug-in whose entry throws.
#include "backend/backend.h"

#include <stdexcept>

extern "C" __attribute__((visibility("default"))) tessera::backend::PluginEntry tessera_backend_entry(std::uint32_t) {
  throw std::runtime_error("the entry is\x1b[2J closed");
}
