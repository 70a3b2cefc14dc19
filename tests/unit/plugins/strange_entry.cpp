// A plug-in of this seam that was built for another library, or by another compiler, or that has no backend. What makes
// its backend must not be called where the handshake fails.
#include "backend/backend.h"

#include <cstdlib>

#include <tessera/version.h>

namespace {

#if defined(TESSERA_OTHER_LIBRARY)
constexpr const char* kVersion = "0.0.1";
#else
constexpr const char* kVersion = TESSERA_VERSION;
#endif

#if defined(TESSERA_OTHER_BUILD)
constexpr const char* kFingerprint = "C++ ABI 1, sizes: string 24";
#else
constexpr auto kPrint = tessera::backend::plugin_fingerprint();
constexpr const char* kFingerprint = kPrint.text.data();
#endif

}  // namespace

extern "C" __attribute__((visibility("default"))) tessera::backend::PluginEntry tessera_backend_entry(std::uint32_t) {
  return {tessera::backend::kSeamVersion, kVersion, kFingerprint, []() -> tessera::backend::Backend* {
#if defined(TESSERA_OTHER_LIBRARY) || defined(TESSERA_OTHER_BUILD)
            std::abort();
#else
            return nullptr;
#endif
          }};
}
