// The order of the list is the order of choice.
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cpu_tbb {

backend::VariantList<KernelRegression> kernel_regression_variants() {
  return {kernel_regression_exact_bytes(), kernel_regression_fused(),           kernel_regression_vendor_onednn(),
          kernel_regression_vendor_blis(), kernel_regression_vendor_openblas(), kernel_regression_naive(),
          kernel_regression_sequential()};
}

}  // namespace tessera::cpu_tbb
