// Asks the driver about a device: the core's questions first, then those of extensions, which may go unanswered.
#include "opencl_facts.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include "opencl_error.h"

namespace tessera::opencl {

namespace {

// Questions of extensions. Older headers lack some of the names, so their numbers stand here.
constexpr cl_device_info kComputeCapabilityMajorNv = 0x4000;  // cl_nv_device_attribute_query
constexpr cl_device_info kComputeCapabilityMinorNv = 0x4001;
constexpr cl_device_info kPciBusIdNv = 0x4008;
constexpr cl_device_info kPciSlotIdNv = 0x4009;
constexpr cl_device_info kPciDomainIdNv = 0x400A;
constexpr cl_device_info kUuidKhr = 0x106A;        // cl_khr_device_uuid
constexpr cl_device_info kPciBusInfoKhr = 0x410F;  // cl_khr_pci_bus_info

/// The answer to kPciBusInfoKhr.
struct PciBusInfo {
  cl_uint domain = 0;
  cl_uint bus = 0;
  cl_uint device = 0;
  cl_uint function = 0;
};

/// Asks for a value of fixed size. False if the device does not know the question.
template <class Value>
bool ask(const OpenclApi& api, cl_device_id device, cl_device_info what, Value& value) {
  return ask_again([&] { return api.clGetDeviceInfo(device, what, sizeof(Value), &value, nullptr); }) == CL_SUCCESS;
}

/// The same for a question that every OpenCL 1.2 device must answer.
template <class Value>
Value must_ask(const OpenclApi& api, cl_device_id device, cl_device_info what) {
  Value value{};
  check(ask_again([&] { return api.clGetDeviceInfo(device, what, sizeof(Value), &value, nullptr); }), Stage::request,
        "clGetDeviceInfo", "a device that is being listed");
  return value;
}

std::string trimmed(std::string text) {
  constexpr std::string_view kPadding{" \t\n\0", 4};
  text.erase(text.find_last_not_of(kPadding) + 1);
  text.erase(0, text.find_first_not_of(kPadding));
  return text;
}

/// A text that is asked for twice: for its size, then for itself. "" if the driver does not give it.
template <class Ask>
std::string text_of(const Ask& ask) {
  std::size_t size = 0;
  if (ask_again([&] { return ask(0, nullptr, &size); }) != CL_SUCCESS) return {};
  std::string text(size, '\0');
  if (ask_again([&] { return ask(size, text.data(), nullptr); }) != CL_SUCCESS) return {};
  return trimmed(std::move(text));
}

std::string pci_text(unsigned domain, unsigned bus, unsigned device, unsigned function) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", domain, bus, device, function);
  return text.data();
}

std::string pci_address(const OpenclApi& api, cl_device_id device, std::string_view extensions) {
  PciBusInfo info;
  if (extensions.find("cl_khr_pci_bus_info") != std::string_view::npos && ask(api, device, kPciBusInfoKhr, info)) {
    return pci_text(info.domain, info.bus, info.device, info.function);
  }
  cl_uint bus = 0;
  cl_uint slot = 0;
  if (extensions.find("cl_nv_device_attribute_query") != std::string_view::npos && ask(api, device, kPciBusIdNv, bus) &&
      ask(api, device, kPciSlotIdNv, slot)) {
    cl_uint domain = 0;
    (void)ask(api, device, kPciDomainIdNv, domain);  // drivers older than the question have one domain: 0
    return pci_text(domain, bus, slot >> 3U, slot & 7U);
  }
  return {};
}

std::string uuid(const OpenclApi& api, cl_device_id device, std::string_view extensions) {
  std::array<unsigned char, 16> bytes{};
  if (extensions.find("cl_khr_device_uuid") == std::string_view::npos || !ask(api, device, kUuidKhr, bytes)) return {};
  if (std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; })) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string instruction_set(const OpenclApi& api, cl_device_id device, std::string_view extensions) {
  cl_uint major = 0;
  cl_uint minor = 0;
  if (extensions.find("cl_nv_device_attribute_query") == std::string_view::npos ||
      !ask(api, device, kComputeCapabilityMajorNv, major) || !ask(api, device, kComputeCapabilityMinorNv, minor)) {
    return {};
  }
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

DeviceKind kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceKind::gpu;
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceKind::cpu : DeviceKind::accelerator;
}

/// "OpenCL 3.0" of "OpenCL 3.0 CUDA".
std::string short_version(const std::string& version) {
  const std::size_t first = version.find(' ');
  return first == std::string::npos ? version : version.substr(0, version.find(' ', first + 1));
}

/// By what OpenCL 3.0 asks. An older device has no such question, and need not have such fences.
bool has_device_fences(const OpenclApi& api, cl_device_id device, const std::string& version) {
  constexpr cl_device_info kAtomicMemoryCapabilities = 0x1063;
  constexpr cl_bitfield kAcquireRelease = 1U << 1U;
  constexpr cl_bitfield kWholeDevice = 1U << 5U;
  cl_bitfield capabilities = 0;
  return version.rfind("OpenCL 3.", 0) == 0 && ask(api, device, kAtomicMemoryCapabilities, capabilities) &&
         (capabilities & kAcquireRelease) != 0 && (capabilities & kWholeDevice) != 0;
}

std::array<std::uint64_t, 3> group_extent(const OpenclApi& api, cl_device_id device) {
  std::vector<std::size_t> extents(
      std::max<cl_uint>(must_ask<cl_uint>(api, device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS), 3));
  const std::size_t size = extents.size() * sizeof(std::size_t);
  check(ask_again(
            [&] { return api.clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, size, extents.data(), nullptr); }),
        Stage::request, "clGetDeviceInfo", "a device that is being listed");
  return {extents[0], extents[1], extents[2]};
}

}  // namespace

std::string platform_text(const OpenclApi& api, cl_platform_id platform, cl_platform_info what) {
  return text_of([&](std::size_t size, void* text, std::size_t* needed) {
    return api.clGetPlatformInfo(platform, what, size, text, needed);
  });
}

std::string device_text(const OpenclApi& api, cl_device_id device, cl_device_info what) {
  return text_of([&](std::size_t size, void* text, std::size_t* needed) {
    return api.clGetDeviceInfo(device, what, size, text, needed);
  });
}

std::string why_unusable(const OpenclApi& api, cl_device_id device) {
  const std::string version = device_text(api, device, CL_DEVICE_VERSION);
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12) {
    return "it offers '" + version + "', but must offer OpenCL 1.2 or newer";
  }
  cl_bool available = CL_FALSE;
  if (!ask(api, device, CL_DEVICE_AVAILABLE, available) || available == CL_FALSE) {
    return "its driver says that it is not available";
  }
  cl_bool compiler = CL_FALSE;
  if (!ask(api, device, CL_DEVICE_COMPILER_AVAILABLE, compiler) || compiler == CL_FALSE) return "it has no compiler";
  return {};
}

DeviceFacts gather_facts(const OpenclApi& api, cl_platform_id platform, cl_device_id device) {
  DeviceFacts facts;
  facts.platform = platform;
  facts.device = device;
  const std::string extensions = device_text(api, device, CL_DEVICE_EXTENSIONS);
  const std::string version = device_text(api, device, CL_DEVICE_VERSION);

  DeviceInfo& info = facts.info;
  info.name = device_text(api, device, CL_DEVICE_NAME);
  info.vendor = device_text(api, device, CL_DEVICE_VENDOR);
  info.driver = platform_text(api, platform, CL_PLATFORM_NAME);
  info.driver_version = device_text(api, device, CL_DRIVER_VERSION);
  info.api_version = short_version(version);
  const auto type = must_ask<cl_device_type>(api, device, CL_DEVICE_TYPE);
  info.kind = kind_of(type);
  facts.is_processor = (type & CL_DEVICE_TYPE_CPU) != 0;
  info.memory_total_bytes = must_ask<cl_ulong>(api, device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.cache_bytes = must_ask<cl_ulong>(api, device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  info.compute_units = must_ask<cl_uint>(api, device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.max_group_size = must_ask<std::size_t>(api, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  info.max_group_extent = group_extent(api, device);
  info.local_memory_bytes = must_ask<cl_ulong>(api, device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.max_allocation_bytes = must_ask<cl_ulong>(api, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.has_float64 = extensions.find("cl_khr_fp64") != std::string::npos;
  info.has_float16 = extensions.find("cl_khr_fp16") != std::string::npos;
  info.unified_memory = must_ask<cl_bool>(api, device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  info.timer_resolution_s =
      1e-9 * static_cast<double>(must_ask<std::size_t>(api, device, CL_DEVICE_PROFILING_TIMER_RESOLUTION));
  info.instruction_set = instruction_set(api, device, extensions);
  info.pci_address = pci_address(api, device, extensions);
  info.uuid = uuid(api, device, extensions);

  facts.base_alignment_bytes =
      std::max<std::uint64_t>(must_ask<cl_uint>(api, device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8, 1);
  // Devices without vector registers answer 1; none has larger ones than 16 floats.
  facts.vector_bytes = sizeof(cl_float) *
                       std::clamp<cl_uint>(must_ask<cl_uint>(api, device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT), 4, 16);
  facts.is_nvidia = info.driver == "NVIDIA CUDA";
  facts.has_device_fences = has_device_fences(api, device, version);
  if (int sm = 0; facts.is_nvidia && std::sscanf(info.instruction_set.c_str(), "sm_%d", &sm) == 1) {
    facts.has_dp4a = sm >= 61;
    facts.has_device_fences = sm >= 70;
    facts.has_tensor_cores = sm >= 80;
    facts.is_hopper = sm == 90;
    facts.float64_tensor_cores = sm >= 90 ? 90 : sm >= 80 ? 80 : 0;
  }
  facts.divides_exactly = (must_ask<cl_device_fp_config>(api, device, CL_DEVICE_SINGLE_FP_CONFIG) &
                           CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  facts.has_int64_atomics = extensions.find("cl_khr_int64_base_atomics") != std::string::npos;
  facts.is_pocl = info.driver == "Portable Computing Language";
  facts.needs_flush = !facts.is_nvidia && !facts.is_pocl;
  facts.identity = info.name + '\n' + info.vendor + '\n' + version + '\n' + info.driver_version + '\n' + info.driver +
                   '\n' + platform_text(api, platform, CL_PLATFORM_VERSION);
  return facts;
}

}  // namespace tessera::opencl
