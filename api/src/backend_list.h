// The backends of this process: found, loaded and probed once.
#pragma once

#include <tessera/device.h>

#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace tessera::detail {

/// A backend that was looked for. `backend` is null unless its state is ready.
struct ListedBackend {
  BackendInfo info;
  std::string device_prefix;
  backend::Backend* backend = nullptr;
  std::vector<DeviceInfo> devices;
  backend::Backend* made = nullptr;  ///< what the plug-in made, ready or not: it stays until the program ends
  std::string build_id;              ///< of the plug-in
};

/// Looks on the first call. Error invalid_argument for a bad $TESSERA_BACKENDS or $TESSERA_BACKEND_PATH.
[[nodiscard]] const std::vector<ListedBackend>& listed_backends();

/// True in a child process of fork() whose parent had looked.
[[nodiscard]] bool backends_are_elsewhere();

/// Device ids of every ready backend, in the order in which open() prefers them.
[[nodiscard]] std::vector<DeviceInfo> devices_by_preference();

}  // namespace tessera::detail
