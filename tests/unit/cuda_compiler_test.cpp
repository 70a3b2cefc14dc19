// CUDA C++ through NVRTC, as far as that goes without a GPU: machine code for a named architecture, or the whole log.
#include "cuda_compiler.h"

#include <gtest/gtest.h>

#include <string>

#include "cuda_api.h"
#include "expect_error.h"

namespace tessera::cuda {
namespace {

constexpr const char* kSaxpy = R"(
extern "C" __global__ void saxpy(const float* x, float* y, float a, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
})";

class CudaCompilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!nvrtc_api().usable()) GTEST_SKIP() << nvrtc_api().why;
  }
};

TEST_F(CudaCompilerTest, makes_machine_code_for_each_architecture) {
  for (const char* architecture : {"sm_75", "sm_80", "sm_89", "sm_90a"}) {
    const auto image = compile_to_cubin(kSaxpy, "", architecture, "saxpy");
    ASSERT_GT(image.size(), 4U) << architecture;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(image.data()), 4), "\177ELF") << architecture;
  }
}

TEST_F(CudaCompilerTest, the_whole_log_is_in_the_error) {
  EXPECT_ERROR((void)compile_to_cubin("extern \"C\" __global__ void bad() {\n  int x = undeclared;\n  also_not();\n}",
                                      "", "sm_80", "bad"),
               ErrorCode::build_failed, "kernel bad", "undeclared", "also_not", "(2)", "(3)");
}

TEST_F(CudaCompilerTest, options_reach_the_compiler) {
  const std::string source = "extern \"C\" __global__ void f(int* x) { *x = VALUE; }";
  EXPECT_FALSE(compile_to_cubin(source, "-DVALUE=3", "sm_80", "f").empty());
  EXPECT_ERROR((void)compile_to_cubin(source, "", "sm_80", "f"), ErrorCode::build_failed, "VALUE");
  EXPECT_ERROR((void)compile_to_cubin(source, "-arch=sm_90", "sm_80", "f"), ErrorCode::invalid_argument, "-arch");
}

TEST_F(CudaCompilerTest, newer_cards_get_machine_code_or_text) {
  EXPECT_EQ(architecture_for(9, 0), "sm_90a");
  EXPECT_EQ(architecture_for(8, 6), "sm_86");
  EXPECT_TRUE(architecture_for(99, 0).starts_with("compute_")) << architecture_for(99, 0);
}

TEST_F(CudaCompilerTest, the_cache_key_holds_everything) {
  const std::string key = cache_key(kSaxpy, "", "sm_80", "saxpy");
  EXPECT_NE(key, cache_key(kSaxpy, "-DX", "sm_80", "saxpy"));
  EXPECT_NE(key, cache_key(kSaxpy, "", "sm_90a", "saxpy"));
  EXPECT_NE(key, cache_key(std::string(kSaxpy).append(" "), "", "sm_80", "saxpy"));
  EXPECT_EQ(cache_key("#include <x.h>", "", "sm_80", "x"), "");
}

}  // namespace
}  // namespace tessera::cuda
