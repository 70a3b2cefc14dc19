// What is on this machine: every backend that was looked for with its state, every device, and for each device which
// variants could multiply two matrices of a thousand rows.
#include <tessera/tessera.h>

#include <iostream>

int main() try {
  std::cout << "Tessera " << tessera::version() << "\n\n";
  for (const tessera::BackendInfo& backend : tessera::backends()) {
    std::cout << backend.name << ": " << to_string(backend.state) << ", " << backend.reason << '\n';
  }

  const tessera::Gemm problem{.m = 1000, .n = 1000, .k = 1000};
  for (const tessera::DeviceInfo& info : tessera::devices()) {
    std::cout << '\n' << info.id << ": " << info.name << ", " << info.driver << ' ' << info.driver_version << '\n';
    const tessera::Device device = tessera::open(info.id);
    for (const tessera::VariantReport& variant : tessera::explain(problem, device)) {
      std::cout << "  gemm " << variant.variant << ": ";
      if (variant.can_run) {
        std::cout << "yes" << (variant.is_default ? ", the default" : "") << ", " << variant.summary << '\n';
        if (!variant.passed_over.empty()) std::cout << "    not the default: " << variant.passed_over << '\n';
      } else {
        std::cout << "no, because " << variant.because << '\n';
      }
    }
  }
  return 0;
} catch (const tessera::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
