// The backend: is always ready, has two devices, and lists the operators.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "cpu_tbb_buffer.h"
#include "cpu_tbb_machine.h"

namespace tessera::cpu_tbb {

class CpuTbbBackend final : public backend::Backend {
 public:
  CpuTbbBackend();

  [[nodiscard]] std::string_view name() const override { return "cpu_tbb"; }
  [[nodiscard]] std::string_view device_prefix() const override { return "cpu"; }
  [[nodiscard]] backend::Probe probe() override;
  [[nodiscard]] std::vector<DeviceInfo> devices() override;
  [[nodiscard]] std::vector<backend::DeviceOption> device_options() const override;
  [[nodiscard]] std::unique_ptr<backend::Device> open(std::size_t index,
                                                      const backend::DeviceOptions& options) override;
  [[nodiscard]] const backend::OperatorTable& operators() const override { return operators_; }
  /// Its threads are made with a device.
  [[nodiscard]] bool works_after_fork() const override { return true; }

 private:
  const Machine machine_;
  const std::shared_ptr<MemoryBudget> budget_;  // one for all devices: they share the machine's memory
  backend::OperatorTable operators_;
};

}  // namespace tessera::cpu_tbb
