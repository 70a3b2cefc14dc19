// A compiled kernel, of an operator or of the program's own, with what it says about itself.
#pragma once

#include <tessera/kernel.h>
#include <tessera/own_kernel.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "device_core.h"

namespace tessera::detail {

class KernelCore {
 public:
  KernelCore(std::shared_ptr<DeviceCore> device, KernelInfo&& info, std::unique_ptr<backend::Kernel> kernel)
      : device_(std::move(device)), info_(std::move(info)), kernel_(std::move(kernel)) {
    describe();
    if (const std::size_t held_bytes = kernel_->held_bytes(); held_bytes != 0) {
      holder_.emplace(device_, Holder::Kind::kernel, *description_, held_bytes);
    }
  }
  KernelCore(std::shared_ptr<DeviceCore> device, KernelInfo info, std::unique_ptr<backend::OwnKernel> kernel,
             std::vector<Parameter> parameters)
      : device_(std::move(device)),
        info_(std::move(info)),
        own_kernel_(std::move(kernel)),
        parameters_(std::move(parameters)),
        limits_(own_kernel_->limits()) {
    describe();
  }
  virtual ~KernelCore() {
    if (!device_->is_elsewhere()) return;
    static_cast<void>(kernel_.release());
    static_cast<void>(own_kernel_.release());
  }
  KernelCore(const KernelCore&) = delete;
  KernelCore& operator=(const KernelCore&) = delete;

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  [[nodiscard]] const KernelInfo& info() const noexcept { return info_; }
  /// "gemm (tiled) 'layer 1'"
  [[nodiscard]] const std::shared_ptr<const std::string>& description() const noexcept { return description_; }
  /// Its fields, for the trace: put into words when it is first asked for. "" of the program's own kernels. From any
  /// thread.
  [[nodiscard]] const std::string& problem() const {
    std::call_once(is_problem_described_, [this] { problem_ = describe_problem(); });
    return problem_;
  }
  [[nodiscard]] backend::Kernel& kernel() noexcept { return *kernel_; }
  [[nodiscard]] backend::OwnKernel& own_kernel() noexcept { return *own_kernel_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const noexcept { return parameters_; }
  [[nodiscard]] const OwnKernelLimits& limits() const noexcept { return limits_; }

 private:
  [[nodiscard]] virtual std::string describe_problem() const { return {}; }
  void describe() {
    std::string text = info_.operator_name + " (" + info_.variant + ")";
    if (!info_.label.empty()) text += " '" + info_.label + "'";
    description_ = std::make_shared<const std::string>(std::move(text));
  }

  std::shared_ptr<DeviceCore> device_;  // outlives the kernel
  KernelInfo info_;
  mutable std::once_flag is_problem_described_;
  mutable std::string problem_;
  std::shared_ptr<const std::string> description_;
  std::unique_ptr<backend::Kernel> kernel_;
  std::unique_ptr<backend::OwnKernel> own_kernel_;
  std::vector<Parameter> parameters_;
  OwnKernelLimits limits_;
  std::optional<Holder> holder_;  ///< where it holds memory
};

/// Where a run that is given raw weights prepares them in its workspace: behind what the kernel works in.
[[nodiscard]] inline std::size_t prepared_offset(const KernelInfo& info) noexcept {
  constexpr std::size_t kAlignment = backend::kPreparedAlignment;
  return (info.workspace_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace tessera::detail
