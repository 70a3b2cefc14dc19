// Images of compiled kernels on a device: those embedded in this library, loaded once when first asked for, and the one
// of a program's own kernel.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "cuda_api.h"

namespace tessera::cuda {

class Context;

/// An image that tessera_cuda_kernel() compiled, for every architecture of the build: one of `embedded`.
using Image = std::string_view;

/// The embedded images that a context has loaded. Called from any thread. Unloaded together with the context.
class ModuleCache {
 public:
  /// A kernel of an image. The context is current. Errors: unsupported if the image holds nothing for this device.
  [[nodiscard]] CUfunction function(const DriverApi& api, const Image& image, const char* kernel);
  /// The context is current and idle.
  void unload(const DriverApi& api) noexcept;

 private:
  std::mutex mutex_;
  std::map<const char*, CUmodule> modules_;
};

/// One image with a life of its own.
class Module {
 public:
  /// Loads a cubin or PTX. `name` is for the errors.
  Module(const Context& context, std::span<const std::byte> image, const std::string& name);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  /// Null if there is no kernel of that name.
  [[nodiscard]] CUfunction find(const std::string& kernel) const;

 private:
  const Context& context_;
  CUmodule module_ = nullptr;
};

}  // namespace tessera::cuda
