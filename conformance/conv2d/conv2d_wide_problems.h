// Cases of conv2d on images so wide that a backend may read most of a row in place, and what lies at its edges apart.
#pragma once

#include <memory>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

void add_wide_conv2d(std::vector<std::unique_ptr<Case>>& cases, DataType type);

}  // namespace tessera::conformance
