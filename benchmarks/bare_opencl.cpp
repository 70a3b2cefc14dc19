// OpenCL with nothing in between: one context, one queue with profiling on as the library's have it, one kernel, and
// host memory that the driver allocated.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "benchmarks/bare_driver.h"
#include "benchmarks/tiny_kernel.h"

namespace tessera::benchmarks {

namespace {

#define TESSERA_OPENCL_FUNCTION(name) \
  decltype(&::name) name = reinterpret_cast<decltype(&::name)>(driver_function(library, #name))

struct OpenclFunctions {
  void* library = open_driver_library("libOpenCL.so.1");
  TESSERA_OPENCL_FUNCTION(clGetPlatformIDs);
  TESSERA_OPENCL_FUNCTION(clGetDeviceIDs);
  TESSERA_OPENCL_FUNCTION(clGetDeviceInfo);
  TESSERA_OPENCL_FUNCTION(clCreateContext);
  TESSERA_OPENCL_FUNCTION(clReleaseContext);
  TESSERA_OPENCL_FUNCTION(clCreateCommandQueue);
  TESSERA_OPENCL_FUNCTION(clReleaseCommandQueue);
  TESSERA_OPENCL_FUNCTION(clCreateProgramWithSource);
  TESSERA_OPENCL_FUNCTION(clBuildProgram);
  TESSERA_OPENCL_FUNCTION(clReleaseProgram);
  TESSERA_OPENCL_FUNCTION(clCreateKernel);
  TESSERA_OPENCL_FUNCTION(clReleaseKernel);
  TESSERA_OPENCL_FUNCTION(clSetKernelArg);
  TESSERA_OPENCL_FUNCTION(clCreateBuffer);
  TESSERA_OPENCL_FUNCTION(clReleaseMemObject);
  TESSERA_OPENCL_FUNCTION(clEnqueueNDRangeKernel);
  TESSERA_OPENCL_FUNCTION(clEnqueueMapBuffer);
  TESSERA_OPENCL_FUNCTION(clEnqueueUnmapMemObject);
  TESSERA_OPENCL_FUNCTION(clEnqueueReadBuffer);
  TESSERA_OPENCL_FUNCTION(clEnqueueWriteBuffer);
  TESSERA_OPENCL_FUNCTION(clFinish);
};

#undef TESSERA_OPENCL_FUNCTION

class BareOpencl : public BareDriver {
 public:
  explicit BareOpencl(const DeviceInfo& info) {
    cl_int code = CL_SUCCESS;
    device_ = find_device(info);
    context_ = cl_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue_ = cl_.clCreateCommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE, &code);
    check(code, "clCreateCommandQueue");
    const char* text = kTinyOpencl;
    program_ = cl_.clCreateProgramWithSource(context_, 1, &text, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    check(cl_.clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
    tiny_ = cl_.clCreateKernel(program_, "tiny", &code);
    check(code, "clCreateKernel");
    const std::array<float, 3> start{1.5F, 2.0F, 0.0F};
    for (cl_uint i = 0; i < 3; ++i) {
      numbers_[i] = make_buffer(sizeof(float), CL_MEM_READ_WRITE);
      check(cl_.clEnqueueWriteBuffer(queue_, numbers_[i], CL_TRUE, 0, sizeof(float), &start[i], 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
    }
  }
  BareOpencl(const BareOpencl&) = delete;
  BareOpencl& operator=(const BareOpencl&) = delete;
  ~BareOpencl() override {
    if (host_ != nullptr) cl_.clEnqueueUnmapMemObject(queue_, pinned_, host_, 0, nullptr, nullptr);
    cl_.clFinish(queue_);
    for (cl_mem memory : {memory_, pinned_, numbers_[0], numbers_[1], numbers_[2]}) {
      if (memory != nullptr) cl_.clReleaseMemObject(memory);
    }
    cl_.clReleaseKernel(tiny_);
    cl_.clReleaseProgram(program_);
    cl_.clReleaseCommandQueue(queue_);
    cl_.clReleaseContext(context_);
  }

  /// Sets every argument each time, as a program must that may have given the kernel others in between.
  void launch() override {
    cl_uint index = 0;
    for (const cl_mem& memory : numbers_) set_argument(index++, memory);
    for (int i = 0; i < 6; ++i) set_argument(index++, cl_long{1});
    set_argument(index++, cl_float{1});
    set_argument(index++, cl_float{0});
    const std::array<std::size_t, 2> items{kTinyGroupWidth, kTinyGroupHeight};
    check(cl_.clEnqueueNDRangeKernel(queue_, tiny_, 2, nullptr, items.data(), items.data(), 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
  void finish() override { check(cl_.clFinish(queue_), "clFinish"); }
  float result() override {
    float value = 0;
    check(cl_.clEnqueueReadBuffer(queue_, numbers_[2], CL_TRUE, 0, sizeof(value), &value, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return value;
  }

  void prepare_copies(std::size_t size_bytes) override {
    size_bytes_ = size_bytes;
    memory_ = make_buffer(size_bytes, CL_MEM_READ_WRITE);
    pinned_ = make_buffer(size_bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
    cl_int code = CL_SUCCESS;
    host_ = cl_.clEnqueueMapBuffer(queue_, pinned_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size_bytes, 0, nullptr,
                                   nullptr, &code);
    check(code, "clEnqueueMapBuffer");
    std::memset(host_, 1, size_bytes);
  }
  void upload() override {
    check(cl_.clEnqueueWriteBuffer(queue_, memory_, CL_FALSE, 0, size_bytes_, host_, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  void download() override {
    check(cl_.clEnqueueReadBuffer(queue_, memory_, CL_FALSE, 0, size_bytes_, host_, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

 private:
  static void check(cl_int code, const char* call) {
    if (code != CL_SUCCESS) throw DriverError(std::string(call) + " fails with " + std::to_string(code));
  }

  template <class T>
  void set_argument(cl_uint index, const T& value) {
    check(cl_.clSetKernelArg(tiny_, index, sizeof(value), &value), "clSetKernelArg");
  }

  [[nodiscard]] cl_mem make_buffer(std::size_t size_bytes, cl_mem_flags flags) const {
    cl_int code = CL_SUCCESS;
    cl_mem memory = cl_.clCreateBuffer(context_, flags, size_bytes, nullptr, &code);
    check(code, "clCreateBuffer");
    return memory;
  }

  /// Every device of every platform in the loader's order, as the library counts them; the name is compared, so that
  /// a different order is an error and not another device.
  [[nodiscard]] cl_device_id find_device(const DeviceInfo& info) const {
    std::vector<cl_device_id> all;
    cl_uint count = 0;
    check(cl_.clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    check(cl_.clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    for (cl_platform_id platform : platforms) {
      if (cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
      std::vector<cl_device_id> devices(count);
      check(cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "clGetDeviceIDs");
      all.insert(all.end(), devices.begin(), devices.end());
    }
    const std::size_t index = std::stoul(info.id.substr(info.id.find(':') + 1));
    if (index >= all.size()) throw DriverError("libOpenCL has no device number " + std::to_string(index));
    std::array<char, 256> name{};
    check(cl_.clGetDeviceInfo(all[index], CL_DEVICE_NAME, name.size(), name.data(), nullptr), "clGetDeviceInfo");
    if (info.name != name.data()) {
      throw DriverError("libOpenCL's device number " + std::to_string(index) + " is '" + name.data() + "', not '" +
                        info.name + "'");
    }
    return all[index];
  }

  OpenclFunctions cl_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel tiny_ = nullptr;
  std::array<cl_mem, 3> numbers_{};
  cl_mem memory_ = nullptr;
  cl_mem pinned_ = nullptr;
  void* host_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace

std::unique_ptr<BareDriver> open_bare_opencl(const DeviceInfo& info) {
  return std::make_unique<BareOpencl>(info);
}

}  // namespace tessera::benchmarks
