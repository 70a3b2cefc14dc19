// The backend itself: is there a driver and a card, which cards are there, and what each can compute.
#include <tessera/version.h>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/sentence.h"
#include "cuda_api.h"
#include "cuda_device.h"
#include "cuda_error.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/conv2d/conv2d_variants.h"
#include "ops/denoise/denoise_variants.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/kernel_regression/kernel_regression_variants.h"
#include "ops/nonlocal_means/nonlocal_means_variants.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cuda {
namespace {

using backend::Probe;
using backend::sentence;

/// A driver loads machine code of its own major version's toolkits and of older ones (CUDA's minor version
/// compatibility), so the toolkit of the build sets the oldest driver.
constexpr int kOldestDriver = CUDA_VERSION / 1000 * 1000;

backend::OperatorTable operator_table() {
  backend::OperatorTable table;
  table.set<Gemm>(gemm_variants());
  table.set<Conv2d>(conv2d_variants());
  table.set<CnnLayer>(cnn_layer_variants());
  table.set<KernelRegression>(kernel_regression_variants());
  table.set<PatchMatch>(patch_match_variants());
  table.set<Denoise>(denoise_variants());
  table.set<NonlocalMeans>(nonlocal_means_variants());
  return table;
}

CUdevice device_at(std::size_t index) {
  CUdevice device = 0;
  check(driver_api().cuDeviceGet(&device, static_cast<int>(index)), sentence("looking for card ", index));
  return device;
}

Probe no(std::string reason) {
  return {false, std::move(reason)};
}

Probe probe_driver() {
  const DriverApi& api = driver_api();
  if (!api.usable()) return no(api.why);
  if (const CUresult result = api.cuInit(0); result != CUDA_SUCCESS) {
    return no(sentence(api.file, " is there, but cuInit fails with ", text_of(result)));
  }
  int version = 0;
  if (const CUresult result = api.cuDriverGetVersion(&version); result != CUDA_SUCCESS) {
    return no(sentence(api.file, " is there, but cuDriverGetVersion fails with ", text_of(result)));
  }
  if (version < kOldestDriver) {
    return no(sentence("the NVIDIA driver offers CUDA ", version / 1000, ".", version % 1000 / 10,
                       ", but this build needs a driver for CUDA ", kOldestDriver / 1000, ".0 or newer"));
  }
  int count = 0;
  if (const CUresult result = api.cuDeviceGetCount(&count); result != CUDA_SUCCESS) {
    return no(sentence(api.file, " is there, but cuDeviceGetCount fails with ", text_of(result)));
  }
  if (count == 0) return no("the NVIDIA driver is there, but it shows no card");
  return {true, sentence("the NVIDIA driver for CUDA ", version / 1000, ".", version % 1000 / 10, " shows ", count,
                         count == 1 ? " card" : " cards")};
}

}  // namespace

class CudaBackend final : public backend::Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string_view device_prefix() const override { return "cuda"; }
  [[nodiscard]] Probe probe() override { return probe_driver(); }

  [[nodiscard]] std::vector<DeviceInfo> devices() override {
    if (!driver_api().usable()) return {};
    int count = 0;
    check(driver_api().cuDeviceGetCount(&count), "counting the cards");
    std::vector<DeviceInfo> list;
    for (int i = 0; i < count; ++i) list.push_back(info_of(device_at(static_cast<std::size_t>(i))));
    return list;
  }

  [[nodiscard]] std::unique_ptr<backend::Device> open(std::size_t index,
                                                      const backend::DeviceOptions& options) override {
    if (!options.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  sentence("cuda:", index, " takes no options, but is given ", options.begin()->first));
    }
    return std::make_unique<CudaDevice>(device_at(index));
  }

  [[nodiscard]] const backend::OperatorTable& operators() const override { return operators_; }

 private:
  const backend::OperatorTable operators_ = operator_table();
};

}  // namespace tessera::cuda

TESSERA_BACKEND_PLUGIN(tessera::cuda::CudaBackend)
