// Finds the plug-in's and the fake driver's functions by the loader.
#include "fault/cuda/plugin.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace tessera::fault {
namespace {

[[noreturn]] void give_up(const char* what) {
  const char* const why = dlerror();
  std::fprintf(stderr, "%s: %s\n", what, why != nullptr ? why : "not set");
  std::exit(2);
}

template <class Function>
Function function_of(const char* name) {
  const char* const file = std::getenv("TESSERA_TEST_PLUGIN");
  if (file == nullptr) give_up("TESSERA_TEST_PLUGIN");
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) give_up(file);
  void* const function = dlsym(library, name);
  if (function == nullptr) give_up(name);
  return reinterpret_cast<Function>(function);
}

}  // namespace

backend::Backend& plugin_backend() {
  static backend::Backend* const backend = [] {
    const auto entry = function_of<backend::PluginEntryFunction>("tessera_backend_entry")(backend::kSeamVersion);
    if (entry.make == nullptr) give_up("the plug-in's backend");
    return entry.make();
  }();
  return *backend;
}

const DriverFaults& driver_faults() {
  static const DriverFaults* const faults = function_of<DriverFaultsFunction>("tessera_driver_faults")();
  return *faults;
}

const fake::CardControls* fake_card() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const function = library != nullptr ? dlsym(library, "tessera_fake_card") : nullptr;
  return function != nullptr ? reinterpret_cast<fake::CardControlsFunction>(function)() : nullptr;
}

}  // namespace tessera::fault
