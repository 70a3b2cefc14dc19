// Looks the symbol up in the plug-in that the library has loaded.
#include "opencl/faulty_driver.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include <tessera/tessera.h>

namespace tessera::fault {

namespace {

BackendInfo opencl_backend() {
  for (BackendInfo& info : backends()) {
    if (info.name == "opencl") return info;
  }
  return {};
}

OpenclFaults* find() {
  const std::string plugin = opencl_backend().plugin;
  void* const library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, kOpenclFaultsSymbol);
  if (symbol == nullptr) {
    std::printf("FAILED: the plug-in '%s' is not the one with faults; $TESSERA_BACKEND_PATH must name its folder\n",
                plugin.c_str());
    std::exit(1);
  }
  return reinterpret_cast<OpenclFaultsFunction*>(symbol)();
}

}  // namespace

OpenclFaults& faulty_driver() {
  static OpenclFaults& faults = *find();
  return faults;
}

std::string driver_state() {
  const BackendInfo info = opencl_backend();
  if (info.state == BackendState::ready) return {};
  return "the backend opencl is " + std::string(to_string(info.state)) + ": " + info.reason;
}

std::string alive_text() {
  std::string text;
  for (const auto& [kind, count] : faulty_driver().alive()) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
  }
  return text;
}

}  // namespace tessera::fault
