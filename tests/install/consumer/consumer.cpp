// Somebody else's program: multiplies on cpu:0 with the installed library and plug-ins, checks every element, and makes
// sure that the plug-in in use lies beside the library it was told of.
#include <tessera/tessera.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {

bool multiplies_correctly() {
  const std::int64_t m = 37, n = 29, k = 23;
  std::vector<double> host_a(m * k), host_b(k * n), host_c(m * n);
  for (std::int64_t i = 0; i < m * k; ++i) host_a[i] = static_cast<double>(i % 11 - 5);
  for (std::int64_t i = 0; i < k * n; ++i) host_b[i] = static_cast<double>(i % 7 - 3);

  const tessera::Device device = tessera::open("cpu:0");
  tessera::Queue queue(device);
  const auto a = device.upload<double>(host_a), b = device.upload<double>(host_b);
  const auto c = device.allocate<double>(m * n);
  queue.run(device.kernel(tessera::Gemm{.m = m, .n = n, .k = k, .type = tessera::DataType::float64}),
            {.a = a, .b = b, .c = c});
  queue.download(c, host_c);
  queue.finish();

  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t column = 0; column < n; ++column) {
      double expected = 0;  // small integers: exact in any order
      for (std::int64_t p = 0; p < k; ++p) expected += host_a[row * k + p] * host_b[p * n + column];
      if (host_c[row * n + column] != expected) {
        std::cerr << "element " << row << ", " << column << " of C is " << host_c[row * n + column] << ", but must be "
                  << expected << '\n';
        return false;
      }
    }
  }
  return true;
}

bool plugin_lies_under(const std::filesystem::path& folder) {
  for (const tessera::BackendInfo& backend : tessera::backends()) {
    if (backend.name != "cpu_tbb") continue;
    const std::filesystem::path expected = std::filesystem::canonical(folder) / "tessera";
    if (std::filesystem::canonical(backend.plugin).parent_path() == expected) return true;
    std::cerr << "cpu_tbb was loaded from '" << backend.plugin << "', but must lie in " << expected << '\n';
    return false;
  }
  std::cerr << "cpu_tbb is not among the backends\n";
  return false;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: consumer LIBRARY_FOLDER\n";
    return 2;
  }
  if (tessera::version() != TESSERA_VERSION) {
    std::cerr << "the library is " << tessera::version() << ", but the headers are " << TESSERA_VERSION << '\n';
    return 1;
  }
  return plugin_lies_under(argv[1]) && multiplies_correctly() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
