// Facts about a card, and what is made on it.
#include "cuda_device.h"

#include <cctype>
#include <fstream>

#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_error.h"
#include "cuda_own_kernel.h"
#include "cuda_queue.h"

namespace tessera::cuda {
namespace {

using backend::sentence;

/// "13.0" of 13000.
std::string version_text(int version) {
  return sentence(version / 1000, ".", version % 1000 / 10);
}

int cuda_version_of_the_driver() {
  int version = 0;
  check(driver_api().cuDriverGetVersion(&version), "asking for the driver's version");
  return version;
}

/// The kernel module's version, "580.95.05": what a bug report needs. The driver API knows only the version of CUDA
/// that it offers, which stands in where the module's is not to be seen, as in some containers.
std::string driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  if (file >> version) return version;
  return version_text(cuda_version_of_the_driver());
}

std::string name_of(CUdevice device) {
  char name[256] = {};
  check(driver_api().cuDeviceGetName(name, sizeof(name) - 1, device), "asking for the card's name");
  return name;
}

std::string pci_address_of(CUdevice device) {
  char address[32] = {};
  check(driver_api().cuDeviceGetPCIBusId(address, sizeof(address) - 1, device), "asking for the card's PCI address");
  std::string text = address;
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

std::string uuid_of(CUdevice device) {
  CUuuid uuid{};
  check(driver_api().cuDeviceGetUuid(&uuid, device), "asking for the card's UUID");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : uuid.bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

}  // namespace

DeviceInfo info_of(CUdevice device) {
  const auto fact = [&](CUdevice_attribute which) { return static_cast<std::uint64_t>(attribute(device, which)); };
  const int major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  std::size_t memory = 0;
  check(driver_api().cuDeviceTotalMem(&memory, device), "asking for the card's memory");

  DeviceInfo info;
  info.name = name_of(device);
  info.vendor = "NVIDIA";
  info.driver = "NVIDIA CUDA";
  info.driver_version = driver_version();
  info.api_version = "CUDA " + version_text(cuda_version_of_the_driver());
  info.kind = DeviceKind::gpu;
  info.memory_total_bytes = memory;
  info.cache_bytes = fact(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  info.compute_units = static_cast<std::uint32_t>(fact(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  info.max_group_size = fact(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  info.max_group_extent = {fact(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), fact(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                           fact(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  info.local_memory_bytes = fact(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  info.max_allocation_bytes = memory;
  info.has_float64 = true;
  info.has_float16 = true;  // every architecture that this backend is built for, 7.5 and up
  info.unified_memory = fact(CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
  info.timer_resolution_s = 0.5e-6;  // as cuEventElapsedTime is documented
  info.instruction_set = sentence("sm_", major, minor);
  info.pci_address = pci_address_of(device);
  info.uuid = uuid_of(device);
  return info;
}

CudaDevice::CudaDevice(CUdevice device) : context_(std::make_shared<Context>(device)), info_(info_of(device)) {
  // All images are built for the same architectures, so one that loads answers for all: a card that none of them fits
  // is refused here, and a variant's check() need not ask.
  load_fill(*context_);
}

DeviceInfo CudaDevice::info() const {
  DeviceInfo info = info_;
  std::size_t free = 0;
  std::size_t total = 0;
  // The facts can be asked for after the card was lost, to report it; then there is no free memory to tell.
  if (context_->try_make_current() && context_->api().cuMemGetInfo(&free, &total) == CUDA_SUCCESS) {
    info.memory_free_bytes = free;
  }
  return info;
}

std::unique_ptr<backend::Buffer> CudaDevice::allocate(std::size_t size_bytes) {
  return std::make_unique<CudaBuffer>(context_, size_bytes);
}

std::unique_ptr<backend::PinnedMemory> CudaDevice::allocate_pinned(std::size_t size_bytes) {
  return std::make_unique<CudaPinnedMemory>(context_, size_bytes);
}

std::unique_ptr<backend::Queue> CudaDevice::make_queue() {
  return std::make_unique<CudaQueue>(context_);
}

std::unique_ptr<backend::OwnKernel> CudaDevice::compile(const KernelSource& source) {
  return std::make_unique<CudaOwnKernel>(context_, source);
}

}  // namespace tessera::cuda
