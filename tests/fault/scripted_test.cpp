// Finds the script in the loaded plug-in.
#include "scripted_test.h"

#include <dlfcn.h>

#include <cstdlib>

namespace tessera::testing {

Script& script() {
  static Script* const script = [] {
    for (const BackendInfo& backend : backends()) {
      if (backend.name != "scripted") continue;
      void* const plugin = ::dlopen(backend.plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
      if (plugin == nullptr) break;
      const auto function = reinterpret_cast<scripted::ScriptFunction>(::dlsym(plugin, "tessera_script"));
      if (function != nullptr) return function();
    }
    ADD_FAILURE() << "the scripted backend is not loaded";
    std::abort();
  }();
  return *script;
}

}  // namespace tessera::testing
