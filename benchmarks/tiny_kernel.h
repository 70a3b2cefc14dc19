// The tiny kernel in three languages: gemm for one element, one work-group of 32 x 8 work-items as the library's naive
// variant has it, with gemm's operands, sizes and factors as its arguments.
#pragma once

namespace tessera::benchmarks {

inline constexpr unsigned kTinyGroupWidth = 32;
inline constexpr unsigned kTinyGroupHeight = 8;

inline constexpr const char* kTinyOpencl =
    "__kernel void tiny(__global const float* a, __global const float* b, __global float* c, long m, long n, long k,\n"
    "                   long lda, long ldb, long ldc, float alpha, float beta) {\n"
    "  const long row = get_global_id(1), column = get_global_id(0);\n"
    "  if (row >= m || column >= n) return;\n"
    "  float sum = 0;\n"
    "  for (long p = 0; p < k; ++p) sum += a[row * lda + p] * b[p * ldb + column];\n"
    "  c[row * ldc + column] = beta == 0 ? alpha * sum : alpha * sum + beta * c[row * ldc + column];\n"
    "}\n";

inline constexpr const char* kTinyCuda =
    "extern \"C\" __global__ void tiny(const float* a, const float* b, float* c, long long m, long long n,\n"
    "                                long long k, long long lda, long long ldb, long long ldc, float alpha,\n"
    "                                float beta) {\n"
    "  const long long row = threadIdx.y, column = threadIdx.x;\n"
    "  if (row >= m || column >= n) return;\n"
    "  float sum = 0;\n"
    "  for (long long p = 0; p < k; ++p) sum += a[row * lda + p] * b[p * ldb + column];\n"
    "  c[row * ldc + column] = beta == 0 ? alpha * sum : alpha * sum + beta * c[row * ldc + column];\n"
    "}\n";

/// PTX that every driver compiles without NVRTC. Only for m = n = k = 1: work-item (0, 0) writes c[0] = a[0] * b[0].
inline constexpr const char* kTinyPtx = R"(
.version 6.3
.target sm_75
.address_size 64
.visible .entry tiny(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 m, .param .u64 n, .param .u64 k,
                     .param .u64 lda, .param .u64 ldb, .param .u64 ldc, .param .f32 alpha, .param .f32 beta)
{
  .reg .pred %other;
  .reg .u32 %item<2>;
  .reg .u64 %address<3>;
  .reg .f32 %value<3>;
  mov.u32 %item0, %tid.x;
  mov.u32 %item1, %tid.y;
  or.b32 %item0, %item0, %item1;
  setp.ne.u32 %other, %item0, 0;
  @%other bra done;
  ld.param.u64 %address0, [a];
  ld.param.u64 %address1, [b];
  ld.param.u64 %address2, [c];
  cvta.to.global.u64 %address0, %address0;
  cvta.to.global.u64 %address1, %address1;
  cvta.to.global.u64 %address2, %address2;
  ld.global.f32 %value0, [%address0];
  ld.global.f32 %value1, [%address1];
  mul.f32 %value2, %value0, %value1;
  st.global.f32 [%address2], %value2;
done:
  ret;
}
)";

}  // namespace tessera::benchmarks
