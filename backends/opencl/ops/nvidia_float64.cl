// Products in float64 by NVIDIA's tensor cores, for 32 work-items together (a warp), which round no otherwise than a fused
// multiply-add does. TENSOR_CORES is the architecture whose instruction is taken, 80 or 90.
//
//   lane 4 g + t holds, of A, 16 rows x 4 p          of B, 4 p x 8 columns      of the sums, 16 x 8
//                      rows g and g + 8 of step t    column g of step t         columns 2 t and 2 t + 1 of both rows
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTENSOR_CORES=80
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTENSOR_CORES=90
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// Adds 16 rows times 8 columns. A row's two sums lie two apart, so that those of another instruction may lie between.
static inline void multiply_16x8(double *upper, double *lower, const double a0, const double a1, const double b) {
  double s0 = upper[0], s1 = upper[2], s2 = lower[0], s3 = lower[2];
#if TENSOR_CORES >= 90
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+d"(s0), "+d"(s1), "+d"(s2), "+d"(s3)
               : "d"(a0), "d"(a1), "d"(b));
#else
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(s0), "+d"(s1)
               : "d"(a0), "d"(b));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(s2), "+d"(s3)
               : "d"(a1), "d"(b));
#endif
  upper[0] = s0;
  upper[2] = s1;
  lower[0] = s2;
  lower[2] = s3;
}
