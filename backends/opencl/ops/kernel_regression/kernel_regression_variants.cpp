// The variants of kernel_regression, best first, plain one last.
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

backend::VariantList<KernelRegression> kernel_regression_variants() {
  return {kernel_regression_exact_bytes_wgmma(),
          kernel_regression_exact_bytes_tensor(),
          kernel_regression_exact_bytes(),
          kernel_regression_fused_split(),
          kernel_regression_fused(),
          kernel_regression_one_kernel(),
          kernel_regression_two_kernels(),
          kernel_regression_naive()};
}

}  // namespace tessera::opencl
