// Opens cuDNN and keeps its handles.
#include "vendor/cuda_cudnn.h"

#include "backend/sentence.h"
#include "backend/shared_library.h"
#include "cuda_error.h"

namespace tessera::cuda {
namespace {

using backend::sentence;

CudnnApi open_cudnn() {
  CudnnApi api;
  const backend::SharedLibrary library(toolkit_library_names("cudnn", {9}));
  if (!library) {
    api.why =
        "cuDNN is not there: libcudnn.so.9 is neither where the loader looks, nor in $CUDA_PATH/lib64, nor in "
        "/usr/local/cuda/lib64";
    return api;
  }
  api.file = library.name();
  const auto load = [&](auto& pointer, const char* name) {
    if (library.function(pointer, name)) return;
    api.why = sentence("cuDNN is too old: ", library.name(), " lacks ", name);
  };
  load(api.get_version, "cudnnGetVersion");
  load(api.get_cudart_version, "cudnnGetCudartVersion");
  load(api.error_string, "cudnnGetErrorString");
  load(api.create, "cudnnCreate");
  load(api.destroy, "cudnnDestroy");
  load(api.set_stream, "cudnnSetStream");
  load(api.create_tensor, "cudnnCreateTensorDescriptor");
  load(api.destroy_tensor, "cudnnDestroyTensorDescriptor");
  load(api.set_tensor, "cudnnSetTensor4dDescriptor");
  load(api.create_filter, "cudnnCreateFilterDescriptor");
  load(api.destroy_filter, "cudnnDestroyFilterDescriptor");
  load(api.set_filter, "cudnnSetFilter4dDescriptor");
  load(api.create_convolution, "cudnnCreateConvolutionDescriptor");
  load(api.destroy_convolution, "cudnnDestroyConvolutionDescriptor");
  load(api.set_convolution, "cudnnSetConvolution2dDescriptor");
  load(api.set_convolution_math, "cudnnSetConvolutionMathType");
  load(api.forward_workspace, "cudnnGetConvolutionForwardWorkspaceSize");
  load(api.forward, "cudnnConvolutionForward");
  if (!api.usable()) return api;

  constexpr std::size_t kVersion = 9;
  if (const std::size_t version = api.get_version(); version / 10000 != kVersion) {
    api.why = sentence(library.name(), " is of version number ", version, ", but must be cuDNN ", kVersion);
    return api;
  }
  // Built for a newer major version of CUDA than the driver's it finds no device later on, so it is refused here.
  const int library_major = static_cast<int>(api.get_cudart_version() / 1000);
  int driver_version = 0;
  if (!driver_api().usable() || driver_api().cuDriverGetVersion(&driver_version) != CUDA_SUCCESS) {
    api.why = "the driver does not tell its version";
  } else if (library_major > driver_version / 1000) {
    api.why = sentence(library.name(), " is for CUDA ", library_major, ", but the driver is of CUDA ",
                       driver_version / 1000, ".", driver_version % 1000 / 10);
  }
  return api;
}

}  // namespace

void CudnnApi::check(int status, const char* doing) const {
  if (status != 0) throw cudnn_error(status, error_string(status), doing);
}

const CudnnApi& cudnn_api() {
  static const CudnnApi* const api = new CudnnApi(open_cudnn());  // never destroyed: a context may be closed after it
  return *api;
}

CudnnHandle::CudnnHandle(const Context& context) {
  context.make_current();
  cudnn_api().check(cudnn_api().create(&handle_), "making a handle");
}

CudnnHandle::~CudnnHandle() {
  cudnn_api().destroy(handle_);
}

}  // namespace tessera::cuda
