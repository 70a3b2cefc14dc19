// Cases of conv2d whose pixels' indices pass 2^31, so that a kernel that computes one in 32 bits is found out. They
// take 10 GiB and more of a GPU's memory and hardly any of the host's.
#pragma once

#include <cstdint>
#include <memory>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// How the pixels come to be so many.
enum class Conv2dFar : std::uint8_t {
  square,  ///< one image, about as wide as high
  wide,    ///< five rows of more than 2^29 pixels
  tall,    ///< rows of five pixels
  batch,   ///< three images of 2^30 pixels each
};

/// An image of uint8 or float, which of the two the case is in.
[[nodiscard]] std::unique_ptr<Case> make_huge_conv2d_case(Conv2dFar far, DataType type);

}  // namespace tessera::conformance
