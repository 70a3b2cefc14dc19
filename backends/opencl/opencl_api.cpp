// Opens the ICD loader and fills the table of functions.
#include "opencl_api.h"

namespace tessera::opencl {

std::string OpenclApi::open() {
  library_ = backend::SharedLibrary({"libOpenCL.so.1", "libOpenCL.so"});
  if (!library_) {
    return "no OpenCL loader is found: tried libOpenCL.so.1 and libOpenCL.so (" + library_.why() + ")";
  }
  std::string missing;
#define TESSERA_OPENCL_LOAD(name) \
  if (!library_.function(name, #name) && missing.empty()) missing = #name;
  TESSERA_OPENCL_FUNCTIONS(TESSERA_OPENCL_LOAD)
#undef TESSERA_OPENCL_LOAD
  if (!missing.empty()) return library_.name() + " has no " + missing + ", but must be a loader of OpenCL 1.2 or newer";
  if (wrap_functions != nullptr) wrap_functions(*this);
  return {};
}

}  // namespace tessera::opencl
