// Opens libcuda and NVRTC and fills their tables.
#include "cuda_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "backend/shared_library.h"

namespace tessera::cuda {
namespace {

using backend::SharedLibrary;

// Two steps, so that a name that cuda.h maps to a versioned one is mapped before it becomes text.
#define TESSERA_CUDA_TEXT_OF(name) #name
#define TESSERA_CUDA_TEXT(name) TESSERA_CUDA_TEXT_OF(name)
#define TESSERA_CUDA_LOAD(name) \
  if (!library.function(api.name, TESSERA_CUDA_TEXT(name))) add_to_list(missing, TESSERA_CUDA_TEXT(name));

void add_to_list(std::string& list, std::string_view name) {
  if (!list.empty()) list += ", ";
  list += name;
}

DriverApi open_driver() {
  DriverApi api;
  const SharedLibrary library({"libcuda.so.1"});
  if (!library) {
    api.why =
        backend::sentence("libcuda.so.1 is not there: no NVIDIA driver is installed, or the loader does not find it (",
                          library.why(), ")");
    return api;
  }
  api.file = library.name();
  std::string missing;
  TESSERA_CUDA_DRIVER_FUNCTIONS(TESSERA_CUDA_LOAD)
  if (!library.function(api.cuEventElapsedTime, TESSERA_CUDA_TEXT(cuEventElapsedTime)) &&
      !library.function(api.cuEventElapsedTime, "cuEventElapsedTime")) {
    add_to_list(missing, "cuEventElapsedTime");
  }
  if (!missing.empty()) {
    api.why = backend::sentence("the NVIDIA driver is too old: its ", library.name(), " lacks ", missing);
    return api;
  }
  library.function(api.cuStreamWriteValue32, TESSERA_CUDA_TEXT(cuStreamWriteValue32));
  library.function(api.cuFuncGetParamInfo, "cuFuncGetParamInfo");
  library.function(api.cuFuncGetName, "cuFuncGetName");
  library.function(api.cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  if (wrap_driver != nullptr) wrap_driver(api);
  return api;
}

// The folder of the file that this code was loaded from, where an application may have put NVRTC for itself.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(info.dli_fname, error);
  return error ? std::filesystem::path() : file.parent_path();
}

NvrtcApi open_nvrtc() {
  NvrtcApi api;
  const SharedLibrary library(toolkit_library_names("nvrtc"));
  if (!library) {
    api.why =
        "NVRTC, which compiles CUDA C++ at run time, is not there: libnvrtc.so.13 or .12 of the CUDA toolkit is "
        "neither where the loader looks, nor in $CUDA_PATH/lib64, nor in /usr/local/cuda/lib64";
    return api;
  }
  api.file = library.name();
  std::string missing;
  TESSERA_CUDA_NVRTC_FUNCTIONS(TESSERA_CUDA_LOAD)
  if (!missing.empty()) {
    api.why = backend::sentence("NVRTC is too old: ", library.name(), " lacks ", missing);
    return api;
  }
  if (const nvrtcResult result = api.nvrtcVersion(&api.major, &api.minor); result != NVRTC_SUCCESS) {
    api.why = backend::sentence(library.name(), " does not tell its version: ", api.nvrtcGetErrorString(result));
  }
  return api;
}

#undef TESSERA_CUDA_LOAD
#undef TESSERA_CUDA_TEXT
#undef TESSERA_CUDA_TEXT_OF

}  // namespace

std::vector<std::string> toolkit_library_names(std::string_view stem, std::vector<int> versions) {
  // The major version of the build's own toolkit first: a driver that loads our images certainly works with that one.
  if (versions.empty()) versions = CUDA_VERSION < 13000 ? std::vector{12, 13} : std::vector{13, 12};
  const std::string file = "lib" + std::string(stem) + ".so";
  std::vector<std::string> sonames;
  for (const int version : versions) sonames.push_back(file + "." + std::to_string(version));
  sonames.push_back(file);

  std::vector<std::filesystem::path> folders;
  if (const char* root = ::secure_getenv("CUDA_PATH"); root != nullptr && std::filesystem::path(root).is_absolute()) {
    folders.emplace_back(std::filesystem::path(root) / "lib64");
  }
  if (std::filesystem::path folder = own_folder(); !folder.empty()) folders.push_back(std::move(folder));
  folders.emplace_back("");  // wherever the loader looks
  folders.emplace_back("/usr/local/cuda/lib64");

  std::vector<std::string> names;
  for (const std::filesystem::path& folder : folders) {
    for (const std::string& soname : sonames) names.push_back((folder / soname).string());
  }
  return names;
}

const DriverApi& driver_api() {
  // Never destroyed: static objects of the program may still hold devices while they are destroyed themselves.
  static const DriverApi* const api = new DriverApi(open_driver());
  return *api;
}

const NvrtcApi& nvrtc_api() {
  static const NvrtcApi* const api = new NvrtcApi(open_nvrtc());
  return *api;
}

}  // namespace tessera::cuda
