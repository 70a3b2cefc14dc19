// What all stacks of a patch_match must be: those of every reference where that is quick to compute, else of samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/compare.h"
#include "conformance/patch_match/patch_match_oracle.h"

namespace tessera::conformance {

/// Results as they lie in memory.
template <class T>
struct PatchResults {
  std::span<const std::int32_t> counts;
  std::span<const PatchDistance<T>> distances;
  std::span<const std::int64_t> indices;
};

/// One reference's results against the stack that it must have, empty places included. No bound: every bit counts.
template <class T>
void check_stack(const PatchResults<T>& found, const PatchStack<T>& expected, std::int64_t reference,
                 Comparison& comparison);

template <class T>
class PatchReference {
 public:
  PatchReference(const PatchMatch& problem, std::span<const T> volume, std::uint64_t seed);

  void check(const PatchResults<T>& results, Comparison& comparison) const;

 private:
  struct Sample {
    std::int64_t reference = 0;
    PatchStack<T> stack;
  };
  PatchMatch problem_;
  std::vector<Sample> samples_;
};

extern template class PatchReference<std::uint8_t>;
extern template class PatchReference<std::uint16_t>;
extern template class PatchReference<float>;

}  // namespace tessera::conformance
