// Sizes that no tile divides: where a tuning is checked beside the problem that it was searched for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// The largest odd number below; sizes up to 2 stay.
[[nodiscard]] constexpr std::int64_t odd_below(std::int64_t size) noexcept {
  return size <= 2 ? size : size - 1 - size % 2;
}

/// Larger than most tiles are wide, and than the largest filter of conv2d.
inline constexpr std::array<std::int64_t, 5> kSmallOddSizes{67, 71, 73, 79, 83};

/// Case::odd_neighbours(). `sizes(problem)` gives pointers to the sizes of a Spec's problem, `make` a Spec's case.
template <class Spec, class Sizes, class Make>
[[nodiscard]] std::vector<std::unique_ptr<Case>> odd_neighbours_of(const Spec& spec, const Sizes& sizes,
                                                                   const Make& make) {
  std::vector<std::unique_ptr<Case>> cases;
  Spec near = spec;
  Spec small = spec;
  std::size_t place = 0;
  for (std::int64_t* const size : sizes(near.problem)) *size = odd_below(*size);
  for (std::int64_t* const size : sizes(small.problem))
    *size = std::min(odd_below(*size), kSmallOddSizes[place++ % kSmallOddSizes.size()]);
  if (small.problem == near.problem) {  // of a problem as small as that
    for (std::int64_t* const size : sizes(small.problem)) *size = odd_below(*size / 2 + 1);
  }
  if (near.problem != spec.problem) cases.push_back(make(near));
  if (small.problem != near.problem) cases.push_back(make(small));
  return cases;
}

}  // namespace tessera::conformance
