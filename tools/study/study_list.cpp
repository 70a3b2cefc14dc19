// The list of studies: a new one is a line here.
#include "tools/study/study.h"

namespace tessera::tool {

const std::vector<Study>& studies() {
  static const std::vector<Study> list{gemm_study(), conv2d_study(), cnn_layer_study(), kernel_regression_study(),
                                       patch_match_study()};
  return list;
}

}  // namespace tessera::tool
