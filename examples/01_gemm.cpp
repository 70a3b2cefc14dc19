// The README's example: multiplies two matrices on the device named by the first argument, or on the best one present.
#include <tessera/tessera.h>

#include <iostream>
#include <vector>

int main(int argc, char** argv) try {
  const std::int64_t m = 64, n = 48, k = 32;
  std::vector<float> host_a(m * k), host_b(k * n), host_c(m * n);
  for (std::int64_t i = 0; i < m * k; ++i) host_a[i] = static_cast<float>(i / k);  // every row holds its number
  for (std::int64_t i = 0; i < k * n; ++i) host_b[i] = static_cast<float>(i % n);  // every column holds its number

  tessera::Device device = tessera::open(argc > 1 ? argv[1] : "");
  tessera::Queue queue(device);
  auto a = device.upload<float>(host_a), b = device.upload<float>(host_b);
  auto c = device.allocate<float>(m * n);
  auto gemm = device.kernel(tessera::Gemm{.m = m, .n = n, .k = k});  // chooses a variant, compiles it once
  queue.run(gemm, {.a = a, .b = b, .c = c});
  queue.download(c, host_c);
  queue.finish();

  bool right = true;
  for (std::int64_t i = 0; i < m * n; ++i) right = right && host_c[i] == static_cast<float>(k * (i / n) * (i % n));
  std::cout << device.id() << " (" << gemm.info().variant << "): " << (right ? "right" : "wrong") << '\n';
  return right ? 0 : 1;
} catch (const tessera::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
