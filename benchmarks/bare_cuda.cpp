// CUDA's driver API with nothing in between: one stream, one kernel from PTX text, pinned memory.
#include <cuda.h>
#include <strings.h>

#include <array>
#include <cstring>
#include <string>

#include "benchmarks/bare_driver.h"
#include "benchmarks/tiny_kernel.h"

namespace tessera::benchmarks {

namespace {

// Some names are macros for versioned ones (cuMemAlloc is cuMemAlloc_v2): both uses of `name` are expanded alike.
#define TESSERA_TEXT(name) #name
#define TESSERA_CUDA_FUNCTION(name) decltype(&::name) name
#define TESSERA_CUDA_LOAD(name) name = reinterpret_cast<decltype(name)>(driver_function(library, TESSERA_TEXT(name)))

struct CudaFunctions {
  TESSERA_CUDA_FUNCTION(cuInit);
  TESSERA_CUDA_FUNCTION(cuGetErrorName);
  TESSERA_CUDA_FUNCTION(cuDeviceGetCount);
  TESSERA_CUDA_FUNCTION(cuDeviceGetPCIBusId);
  TESSERA_CUDA_FUNCTION(cuDevicePrimaryCtxRetain);
  TESSERA_CUDA_FUNCTION(cuDevicePrimaryCtxRelease);
  TESSERA_CUDA_FUNCTION(cuCtxSetCurrent);
  TESSERA_CUDA_FUNCTION(cuModuleLoadData);
  TESSERA_CUDA_FUNCTION(cuModuleUnload);
  TESSERA_CUDA_FUNCTION(cuModuleGetFunction);
  TESSERA_CUDA_FUNCTION(cuStreamCreate);
  TESSERA_CUDA_FUNCTION(cuStreamSynchronize);
  TESSERA_CUDA_FUNCTION(cuStreamDestroy);
  TESSERA_CUDA_FUNCTION(cuMemAlloc);
  TESSERA_CUDA_FUNCTION(cuMemFree);
  TESSERA_CUDA_FUNCTION(cuMemHostAlloc);
  TESSERA_CUDA_FUNCTION(cuMemFreeHost);
  TESSERA_CUDA_FUNCTION(cuMemcpyHtoDAsync);
  TESSERA_CUDA_FUNCTION(cuMemcpyDtoHAsync);
  TESSERA_CUDA_FUNCTION(cuLaunchKernel);

  CudaFunctions() {
    void* library = open_driver_library("libcuda.so.1");
    TESSERA_CUDA_LOAD(cuInit);
    TESSERA_CUDA_LOAD(cuGetErrorName);
    TESSERA_CUDA_LOAD(cuDeviceGetCount);
    TESSERA_CUDA_LOAD(cuDeviceGetPCIBusId);
    TESSERA_CUDA_LOAD(cuDevicePrimaryCtxRetain);
    TESSERA_CUDA_LOAD(cuDevicePrimaryCtxRelease);
    TESSERA_CUDA_LOAD(cuCtxSetCurrent);
    TESSERA_CUDA_LOAD(cuModuleLoadData);
    TESSERA_CUDA_LOAD(cuModuleUnload);
    TESSERA_CUDA_LOAD(cuModuleGetFunction);
    TESSERA_CUDA_LOAD(cuStreamCreate);
    TESSERA_CUDA_LOAD(cuStreamSynchronize);
    TESSERA_CUDA_LOAD(cuStreamDestroy);
    TESSERA_CUDA_LOAD(cuMemAlloc);
    TESSERA_CUDA_LOAD(cuMemFree);
    TESSERA_CUDA_LOAD(cuMemHostAlloc);
    TESSERA_CUDA_LOAD(cuMemFreeHost);
    TESSERA_CUDA_LOAD(cuMemcpyHtoDAsync);
    TESSERA_CUDA_LOAD(cuMemcpyDtoHAsync);
    TESSERA_CUDA_LOAD(cuLaunchKernel);
  }
};

#undef TESSERA_TEXT
#undef TESSERA_CUDA_FUNCTION
#undef TESSERA_CUDA_LOAD

class BareCuda : public BareDriver {
 public:
  explicit BareCuda(const DeviceInfo& info) {
    check(cu_.cuInit(0), "cuInit");
    device_ = find_device(info);
    check(cu_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(cu_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    check(cu_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cu_.cuModuleLoadData(&module_, kTinyPtx), "cuModuleLoadData");
    check(cu_.cuModuleGetFunction(&tiny_, module_, "tiny"), "cuModuleGetFunction");
    const std::array<float, 3> start{1.5F, 2.0F, 0.0F};
    check(cu_.cuMemAlloc(&numbers_, sizeof(start)), "cuMemAlloc");
    check(cu_.cuMemcpyHtoDAsync(numbers_, start.data(), sizeof(start), stream_), "cuMemcpyHtoDAsync");
    BareCuda::finish();
    for (std::size_t i = 0; i < pointers_.size(); ++i) pointers_[i] = numbers_ + i * sizeof(float);
  }
  BareCuda(const BareCuda&) = delete;
  BareCuda& operator=(const BareCuda&) = delete;
  ~BareCuda() override {
    cu_.cuStreamSynchronize(stream_);
    if (memory_ != 0) cu_.cuMemFree(memory_);
    if (host_ != nullptr) cu_.cuMemFreeHost(host_);
    cu_.cuMemFree(numbers_);
    cu_.cuModuleUnload(module_);
    cu_.cuStreamDestroy(stream_);
    cu_.cuDevicePrimaryCtxRelease(device_);
  }

  void launch() override {
    void* arguments[] = {&pointers_[0], &pointers_[1], &pointers_[2], &sizes_[0],  &sizes_[1], &sizes_[2],
                         &sizes_[3],    &sizes_[4],    &sizes_[5],    &scales_[0], &scales_[1]};
    check(cu_.cuLaunchKernel(tiny_, 1, 1, 1, kTinyGroupWidth, kTinyGroupHeight, 1, 0, stream_, arguments, nullptr),
          "cuLaunchKernel");
  }
  void finish() override { check(cu_.cuStreamSynchronize(stream_), "cuStreamSynchronize"); }
  float result() override {
    float value = 0;
    check(cu_.cuMemcpyDtoHAsync(&value, pointers_[2], sizeof(value), stream_), "cuMemcpyDtoHAsync");
    finish();
    return value;
  }

  void prepare_copies(std::size_t size_bytes) override {
    size_bytes_ = size_bytes;
    check(cu_.cuMemAlloc(&memory_, size_bytes), "cuMemAlloc");
    check(cu_.cuMemHostAlloc(&host_, size_bytes, 0), "cuMemHostAlloc");
    std::memset(host_, 1, size_bytes);
  }
  void upload() override { check(cu_.cuMemcpyHtoDAsync(memory_, host_, size_bytes_, stream_), "cuMemcpyHtoDAsync"); }
  void download() override { check(cu_.cuMemcpyDtoHAsync(host_, memory_, size_bytes_, stream_), "cuMemcpyDtoHAsync"); }

 private:
  void check(CUresult code, const char* call) const {
    if (code == CUDA_SUCCESS) return;
    const char* name = nullptr;
    cu_.cuGetErrorName(code, &name);
    throw DriverError(std::string(call) + " fails with " + (name != nullptr ? name : std::to_string(code)));
  }

  [[nodiscard]] CUdevice find_device(const DeviceInfo& info) const {
    int count = 0;
    check(cu_.cuDeviceGetCount(&count), "cuDeviceGetCount");
    for (CUdevice device = 0; device < count; ++device) {
      std::array<char, 32> address{};
      check(cu_.cuDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), device), "cuDeviceGetPCIBusId");
      if (strcasecmp(address.data(), info.pci_address.c_str()) == 0) return device;
    }
    throw DriverError("libcuda has no device at the PCI address '" + info.pci_address + "' of " + info.id);
  }

  CudaFunctions cu_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction tiny_ = nullptr;
  CUdeviceptr numbers_ = 0;
  std::array<CUdeviceptr, 3> pointers_{};
  std::array<long long, 6> sizes_{1, 1, 1, 1, 1, 1};
  std::array<float, 2> scales_{1, 0};
  CUdeviceptr memory_ = 0;
  void* host_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace

std::unique_ptr<BareDriver> open_bare_cuda(const DeviceInfo& info) {
  return std::make_unique<BareCuda>(info);
}

}  // namespace tessera::benchmarks
