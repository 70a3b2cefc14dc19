// Opens cuBLAS and keeps its handles.
#include "vendor/cuda_cublas.h"

#include "backend/sentence.h"
#include "backend/shared_library.h"
#include "cuda_error.h"

namespace tessera::cuda {
namespace {

using backend::sentence;

CublasApi open_cublas() {
  CublasApi api;
  const backend::SharedLibrary library(toolkit_library_names("cublas"));
  if (!library) {
    api.why =
        "cuBLAS is not there: libcublas.so.13 or .12 of the CUDA toolkit is neither where the loader looks, nor in "
        "$CUDA_PATH/lib64, nor in /usr/local/cuda/lib64";
    return api;
  }
  api.file = library.name();
  const auto load = [&](auto& pointer, const char* name) {
    if (library.function(pointer, name)) return;
    api.why = sentence("cuBLAS is too old: ", library.name(), " lacks ", name);
  };
  load(api.create, "cublasCreate_v2");
  load(api.destroy, "cublasDestroy_v2");
  load(api.set_stream, "cublasSetStream_v2");
  load(api.set_workspace, "cublasSetWorkspace_v2");
  load(api.set_math_mode, "cublasSetMathMode");
  load(api.get_property, "cublasGetProperty");
  load(api.status_string, "cublasGetStatusString");
  load(api.sgemm, "cublasSgemm_v2_64");
  load(api.dgemm, "cublasDgemm_v2_64");
  load(api.sgemm_batch, "cublasSgemmStridedBatched_64");
  load(api.dgemm_batch, "cublasDgemmStridedBatched_64");
  load(api.gemm_of_types, "cublasGemmEx_64");
  if (!api.usable()) return api;

  // A library of a newer major version than the driver's opens, but later finds no device. So it is refused here.
  constexpr int kMajorVersion = 0;
  int library_major = 0;
  int driver_version = 0;
  if (api.get_property(kMajorVersion, &library_major) != 0 || !driver_api().usable() ||
      driver_api().cuDriverGetVersion(&driver_version) != CUDA_SUCCESS) {
    api.why = sentence(library.name(), " or the driver does not tell its version");
  } else if (library_major > driver_version / 1000) {
    api.why = sentence(library.name(), " is of CUDA ", library_major, ", but the driver is of CUDA ",
                       driver_version / 1000, ".", driver_version % 1000 / 10);
  }
  return api;
}

}  // namespace

void CublasApi::check(int status, const char* doing) const {
  if (status != 0) throw cublas_error(status, status_string(status), doing);
}

const CublasApi& cublas_api() {
  // Never destroyed: static objects of the program may still hold devices while they are destroyed themselves.
  static const CublasApi* const api = new CublasApi(open_cublas());
  return *api;
}

CublasHandle::CublasHandle(const Context& context) {
  context.make_current();
  cublas_api().check(cublas_api().create(&handle_), "making a handle");
}

void CublasHandle::use(CUstream stream, void* workspace, CublasMath math) const {
  const CublasApi& api = cublas_api();
  api.check(api.set_stream(handle_, stream), "choosing the stream");
  api.check(api.set_workspace(handle_, workspace, kCublasWorkspaceBytes), "setting the workspace");
  api.check(api.set_math_mode(handle_, static_cast<int>(math)), "choosing how products are made");
}

CublasHandle::~CublasHandle() {
  cublas_api().destroy(handle_);
}

}  // namespace tessera::cuda
