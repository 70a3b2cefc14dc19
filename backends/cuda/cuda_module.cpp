// Loading of images. An embedded image holds machine code for several architectures; the driver picks.
#include "cuda_module.h"

#include "backend/program_log.h"
#include "backend/sentence.h"
#include "cuda_context.h"
#include "cuda_error.h"

namespace tessera::cuda {

using backend::sentence;

CUfunction ModuleCache::function(const DriverApi& api, const Image& image, const char* kernel) {
  const std::lock_guard lock(mutex_);
  CUmodule& module = modules_[image.data()];
  if (module == nullptr) {
    const backend::ProgramLog log(kernel);
    CUmodule loaded = nullptr;
    check(api.cuModuleLoadData(&loaded, image.data()),
          sentence("loading the image of ", kernel, ", which is built for ", TESSERA_CUDA_ARCHITECTURES, ","));
    module = loaded;
    log.came_from(backend::ProgramOrigin::library);
  }
  CUfunction function = nullptr;
  check(api.cuModuleGetFunction(&function, module, kernel), sentence("finding ", kernel, " in its image"));
  return function;
}

void ModuleCache::unload(const DriverApi& api) noexcept {
  for (const auto& [bytes, module] : modules_) {
    if (module != nullptr) api.cuModuleUnload(module);
  }
  modules_.clear();
}

Module::Module(const Context& context, std::span<const std::byte> image, const std::string& name) : context_(context) {
  context_.make_current();
  check(context_.api().cuModuleLoadData(&module_, image.data()), sentence("loading kernel ", name));
}

Module::~Module() {
  static_cast<void>(context_.try_make_current());
  context_.api().cuModuleUnload(module_);
}

CUfunction Module::find(const std::string& kernel) const {
  context_.make_current();
  CUfunction function = nullptr;
  const CUresult result = context_.api().cuModuleGetFunction(&function, module_, kernel.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) return nullptr;
  check(result, sentence("finding kernel ", kernel));
  return function;
}

}  // namespace tessera::cuda
