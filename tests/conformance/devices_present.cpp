// Which devices are tested, and the shared handles.
#include "devices_present.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace tessera::testing_support {

namespace {

std::string& restriction() {
  static std::string backend;
  return backend;
}

}  // namespace

void restrict_to_backend(std::string backend) {
  restriction() = std::move(backend);
}
const std::string& restricting_backend() {
  return restriction();
}

const std::vector<std::string>& device_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> present;
    for (const BackendInfo& backend : backends()) {
      if (!restriction().empty() && backend.name != restriction()) continue;
      present.insert(present.end(), backend.devices.begin(), backend.devices.end());
    }
    return present;
  }();
  return ids;
}

const Device& shared_device(const std::string& id) {
  static std::mutex mutex;
  // Never destroyed: drivers must not be called from static destructors.
  static auto* const devices = new std::map<std::string, Device>;
  const std::lock_guard lock(mutex);
  const auto found = devices->find(id);
  if (found != devices->end()) return found->second;
  return devices->emplace(id, open(id)).first->second;
}

std::string name_for_tests(const std::string& id) {
  std::string name = id;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace tessera::testing_support
