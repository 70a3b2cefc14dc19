// The kernels that the fake card computes: enough that a test can look at results. All others only take their time.
#include <cstring>
#include <thread>

#include "cuda_fill.h"
#include "fault/cuda/fake_card.h"
#include "ops/gemm/gemm_arguments.h"

namespace tessera::fake {
namespace {

CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

void fill(const cuda::FillArguments& fill) {
  const auto count = static_cast<std::size_t>(fill.count);
  if (!card().is_usable(address_of(fill.destination), count * sizeof(fill.pattern), "fill writes freed memory")) return;
  for (std::size_t i = 0; i < count; ++i) fill.destination[i] = fill.pattern;
}

/// Plain rows, one product: what the tests ask for.
void multiply(const cuda::GemmArguments<float>& gemm) {
  const auto elements = [](std::int64_t rows, std::int64_t leading) {
    return static_cast<std::size_t>(rows * leading) * sizeof(float);
  };
  if (!card().is_usable(address_of(gemm.a), elements(gemm.m, gemm.lda), "gemm reads freed memory") ||
      !card().is_usable(address_of(gemm.b), elements(gemm.k, gemm.ldb), "gemm reads freed memory") ||
      !card().is_usable(address_of(gemm.c), elements(gemm.m, gemm.ldc), "gemm writes freed memory")) {
    return;
  }
  for (std::int64_t row = 0; row < gemm.m; ++row) {
    for (std::int64_t column = 0; column < gemm.n; ++column) {
      float sum = 0;
      for (std::int64_t l = 0; l < gemm.k; ++l) sum += gemm.a[row * gemm.lda + l] * gemm.b[l * gemm.ldb + column];
      float& element = gemm.c[row * gemm.ldc + column];
      element = gemm.alpha * sum + (gemm.beta != 0 ? gemm.beta * element : 0);
    }
  }
}

template <class Arguments>
Arguments copied(void** parameters) {
  Arguments arguments;
  std::memcpy(&arguments, parameters[0], sizeof(arguments));
  return arguments;
}

}  // namespace

std::function<void()> work_of(const Function& function, void** parameters) {
  if (function.name == "tessera_fill_64") {
    return [arguments = copied<cuda::FillArguments>(parameters)] { fill(arguments); };
  }
  if (function.name == "tessera_gemm_naive_float32") {
    return [arguments = copied<cuda::GemmArguments<float>>(parameters)] { multiply(arguments); };
  }
  return [] {};
}

}  // namespace tessera::fake
