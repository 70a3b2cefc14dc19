// Opening a driver's library, and what stands in for a driver whose header was not there when this was built.
#include "benchmarks/bare_driver.h"

#include <dlfcn.h>

namespace tessera::benchmarks {

void* open_driver_library(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw DriverError(dlerror());
  return library;
}

void* driver_function(void* library, const char* name) {
  void* function = dlsym(library, name);
  if (function == nullptr) throw DriverError(std::string("the driver has no function ") + name);
  return function;
}

#if !TESSERA_OVERHEAD_CUDA
std::unique_ptr<BareDriver> open_bare_cuda(const DeviceInfo&) {
  throw DriverError("this program was built without cuda.h");
}
#endif

#if !TESSERA_OVERHEAD_OPENCL
std::unique_ptr<BareDriver> open_bare_opencl(const DeviceInfo&) {
  throw DriverError("this program was built without CL/cl.h");
}
#endif

}  // namespace tessera::benchmarks
