// Looks for the backend `minimal`: it must be ready, and its first device must keep what is written to it.
#include <tessera/tessera.h>

#include <cstdint>
#include <iostream>
#include <vector>

int main() try {
  for (const tessera::BackendInfo& backend : tessera::backends()) {
    std::cout << backend.name << ": " << to_string(backend.state) << ", " << backend.reason << '\n';
    if (backend.name != "minimal") continue;
    if (backend.state != tessera::BackendState::ready || backend.devices.empty()) return 1;

    const tessera::Device device = tessera::open(backend.devices.front());
    tessera::Queue queue(device);
    const std::vector<std::int32_t> sent{3, 1, 4, 1, 5, 9, 2, 6};
    const auto buffer = device.upload<std::int32_t>(sent);
    if (queue.download(buffer).get() == sent) return 0;
    std::cerr << "what comes back from " << device.id() << " is not what was sent\n";
    return 1;
  }
  std::cerr << "there is no backend minimal\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
