// The OpenCL backend: finds the loader, lists every device of every platform, opens them.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "opencl_api.h"
#include "opencl_facts.h"

namespace tessera::opencl {

class OpenclBackend final : public backend::Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "opencl"; }
  [[nodiscard]] std::string_view device_prefix() const override { return "opencl"; }
  [[nodiscard]] backend::Probe probe() override;
  [[nodiscard]] std::vector<DeviceInfo> devices() override;
  [[nodiscard]] std::unique_ptr<backend::Device> open(std::size_t index,
                                                      const backend::DeviceOptions& options) override;
  [[nodiscard]] const backend::OperatorTable& operators() const override;

 private:
  /// Appends the usable devices of a platform to `usable`, and notes in `left_out` why others are not.
  void list_devices(cl_platform_id platform, std::vector<DeviceFacts>& usable, std::string& left_out) const;
  /// The same for devices_, whatever happens: a platform that fails is noted and the others stay.
  void take_platform(cl_platform_id platform, std::string& left_out);

  OpenclApi api_;
  std::vector<DeviceFacts> devices_;  ///< platform by platform, in the drivers' order
};

}  // namespace tessera::opencl
