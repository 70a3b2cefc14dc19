// Cases of cnn_layer whose elements' indices pass 2^31, so that a kernel that computes one in 32 bits is found out.
// They take 17 GiB and more of a GPU's memory and hardly any of the host's.
#pragma once

#include <cstdint>
#include <memory>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// How the elements come to be so many; all in float.
enum class CnnLayerFar : std::uint8_t {
  planes,  ///< the second plane of two of 2^30 pixels
  pixels,  ///< the same image with its channels innermost
  batch,   ///< the third of three images of 2^30 pixels
};

[[nodiscard]] std::unique_ptr<Case> make_huge_cnn_layer_case(CnnLayerFar far);

}  // namespace tessera::conformance
