// The plug-in's entry, its devices' options, and the operator table.
#include "cpu_tbb_backend.h"

#include <tessera/version.h>

#include <charconv>
#include <new>
#include <string>
#include <system_error>

#include "backend/sentence.h"
#include "cpu_tbb_device.h"
#include "cpu_tbb_error.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/conv2d/conv2d_variants.h"
#include "ops/denoise/denoise_variants.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/kernel_regression/kernel_regression_variants.h"
#include "ops/nonlocal_means/nonlocal_means_variants.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cpu_tbb {

namespace {

int parse_threads(const std::string& text, std::size_t device_index) {
  int threads = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, threads);
  if (error != std::errc() || stop != end || threads < 1 || threads > kMaxThreads) {
    throw Error(ErrorCode::invalid_argument,
                backend::sentence("option threads of cpu:", device_index, " is '", text,
                                  "', but must be a whole number from 1 to ", kMaxThreads));
  }
  return threads;
}

}  // namespace

CpuTbbBackend::CpuTbbBackend()
    : machine_(describe_machine()), budget_(std::make_shared<MemoryBudget>(machine_.memory_total_bytes)) {
  static_cast<void>(no_memory_left());  // makes that Error now, while there is memory for it
  operators_.set<Gemm>(gemm_variants());
  operators_.set<Conv2d>(conv2d_variants());
  operators_.set<CnnLayer>(cnn_layer_variants());
  operators_.set<KernelRegression>(kernel_regression_variants());
  operators_.set<PatchMatch>(patch_match_variants());
  operators_.set<Denoise>(denoise_variants());
  operators_.set<NonlocalMeans>(nonlocal_means_variants());
}

backend::Probe CpuTbbBackend::probe() {
  try {
    const DeviceInfo info = devices().front();
    return {true, backend::sentence(info.driver, " ", info.driver_version, " on ", info.name, " with ",
                                    info.compute_units, " threads, ", info.instruction_set)};
  } catch (const std::bad_alloc&) {
    return {true, "a processor"};  // probe() is asked once: a passing shortage must not disable the backend for good
  }
}

std::vector<DeviceInfo> CpuTbbBackend::devices() {
  std::vector<DeviceInfo> list;
  for (std::size_t index = 0; index < kDeviceCount; ++index)
    list.push_back(describe_device(machine_, *budget_, static_cast<ExecutorKind>(index), machine_.threads));
  return list;
}

std::vector<backend::DeviceOption> CpuTbbBackend::device_options() const {
  return {{"threads", backend::sentence("the most threads that a queue computes on at once, 1 to ", kMaxThreads)}};
}

std::unique_ptr<backend::Device> CpuTbbBackend::open(std::size_t index, const backend::DeviceOptions& options) {
  int threads = machine_.threads;
  for (const auto& [name, value] : options) {
    if (name != "threads")
      throw Error(ErrorCode::invalid_argument,
                  backend::sentence("cpu:", index, " has no option '", name, "'; it has threads"));
    threads = parse_threads(value, index);
  }
  return or_no_memory(
      [&] { return std::make_unique<CpuTbbDevice>(machine_, budget_, static_cast<ExecutorKind>(index), threads); });
}

}  // namespace tessera::cpu_tbb

TESSERA_BACKEND_PLUGIN(tessera::cpu_tbb::CpuTbbBackend)
