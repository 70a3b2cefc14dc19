// The order of the list is the order of choice. naive always pays: two_kernels and cuBLAS are there to be compared.
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cuda {

backend::VariantList<KernelRegression> kernel_regression_variants() {
  return {kernel_regression_exact_bytes(),  kernel_regression_fused_split(), kernel_regression_fused(),
          kernel_regression_one_kernel(),   kernel_regression_naive(),       kernel_regression_two_kernels(),
          kernel_regression_vendor_cublas()};
}

}  // namespace tessera::cuda
