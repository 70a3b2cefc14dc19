// Looks for devices, and lists what the backend offers on them.
#include "opencl_backend.h"

#include <exception>

#include <tessera/version.h>

#include "opencl_device.h"
#include "opencl_error.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/conv2d/conv2d_variants.h"
#include "ops/denoise/denoise_variants.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/kernel_regression/kernel_regression_variants.h"
#include "ops/nonlocal_means/nonlocal_means_variants.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::opencl {

namespace {

std::string count_of(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

}  // namespace

void OpenclBackend::list_devices(cl_platform_id platform, std::vector<DeviceFacts>& usable,
                                 std::string& left_out) const {
  cl_uint count = 0;
  cl_int code = ask_again([&] { return api_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count); });
  if (code != CL_SUCCESS || count == 0) {
    left_out += "; platform '" + platform_text(api_, platform, CL_PLATFORM_NAME) + "' has no device";
    if (code != CL_SUCCESS && code != CL_DEVICE_NOT_FOUND) left_out += " (" + name_of(code) + ")";
    return;
  }
  std::vector<cl_device_id> ids(count);
  code = ask_again([&] { return api_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr); });
  check(code, Stage::request, "clGetDeviceIDs", "a platform that is being listed");
  for (const cl_device_id id : ids) {
    std::string reason = why_unusable(api_, id);
    if (reason.empty()) {
      try {
        usable.push_back(gather_facts(api_, platform, id));
      } catch (const Error& error) {
        reason = error.sentence();
      }
    }
    if (!reason.empty()) left_out += "; '" + device_text(api_, id, CL_DEVICE_NAME) + "' is left out: " + reason;
  }
}

void OpenclBackend::take_platform(cl_platform_id platform, std::string& left_out) {
  // A second time, because what failed may have been a passing shortage of the host's memory.
  for (const bool is_last : {false, true}) {
    try {
      std::vector<DeviceFacts> usable;
      std::string why;
      list_devices(platform, usable, why);
      left_out += why;
      devices_.insert(devices_.end(), usable.begin(), usable.end());
      return;
    } catch (const std::exception& error) {
      if (is_last) left_out += std::string("; a platform is left out: ") + error.what();
    }
  }
}

backend::Probe OpenclBackend::probe() {
  devices_.clear();
  if (std::string missing = api_.open(); !missing.empty()) return {false, std::move(missing)};
  cl_uint count = 0;
  const cl_int code = ask_again([&] { return api_.clGetPlatformIDs(0, nullptr, &count); });
  if (code != CL_SUCCESS || count == 0) {
    return {false, "the OpenCL loader " + api_.loader() + " finds no platform (" + name_of(code) +
                       "): a driver names itself in an ICD file under /etc/OpenCL/vendors, or under "
                       "$OCL_ICD_VENDORS, and none there loads"};
  }
  std::vector<cl_platform_id> platforms(count);
  if (ask_again([&] { return api_.clGetPlatformIDs(count, platforms.data(), nullptr); }) != CL_SUCCESS) {
    platforms.clear();
  }
  std::string left_out;
  for (const cl_platform_id platform : platforms) take_platform(platform, left_out);
  if (devices_.empty()) {
    return {false, "no usable OpenCL device among " + count_of(count, "platform") + left_out};
  }
  return {true, count_of(devices_.size(), "device") + " of " + count_of(count, "platform") + " through " +
                    api_.loader() + left_out};
}

std::vector<DeviceInfo> OpenclBackend::devices() {
  std::vector<DeviceInfo> infos;
  for (const DeviceFacts& facts : devices_) infos.push_back(facts.info);
  return infos;
}

std::unique_ptr<backend::Device> OpenclBackend::open(std::size_t index, const backend::DeviceOptions& /*options*/) {
  return std::make_unique<OpenclDevice>(api_, devices_.at(index));
}

const backend::OperatorTable& OpenclBackend::operators() const {
  static const backend::OperatorTable* const table = [] {
    auto* made = new backend::OperatorTable;  // never destroyed, as the backend
    made->set<Gemm>(gemm_variants());
    made->set<Conv2d>(conv2d_variants());
    made->set<CnnLayer>(cnn_layer_variants());
    made->set<KernelRegression>(kernel_regression_variants());
    made->set<PatchMatch>(patch_match_variants());
    made->set<Denoise>(denoise_variants());
    made->set<NonlocalMeans>(nonlocal_means_variants());
    return made;
  }();
  return *table;
}

}  // namespace tessera::opencl

TESSERA_BACKEND_PLUGIN(tessera::opencl::OpenclBackend)
