// dlopen with the words kept: which names were tried and why each failed.
#include "backend/shared_library.h"

#include <dlfcn.h>

namespace tessera::backend {

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      why_.clear();
      return;
    }
    const char* words = ::dlerror();
    if (!why_.empty()) why_ += "; ";
    why_ += words != nullptr ? words : name + " does not open";
  }
}

void* SharedLibrary::symbol(const char* name) const noexcept {
  return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
}

}  // namespace tessera::backend
