// The stack of one reference after the other as "packed_key" finds it (its picture is in
// patch_match_packed_kernel.cpp), for whoever matches patches: that variant, and operators that filter what it finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ops/patch_match/patch_match_packed_kernel.h"

namespace tessera::cpu_tbb {

/// "", or the sentence that says why patches of this problem are not found in that way.
[[nodiscard]] std::string why_no_packed_search(const PatchMatch& problem);
/// Memory that a search needs.
[[nodiscard]] double packed_search_bytes(const PatchMatch& problem) noexcept;

/// One thread's search. What it is given must outlive it.
template <class T>
class PackedSearch {
 public:
  PackedSearch(const PatchMatch& problem, const T* volume, std::byte* memory) noexcept;
  PackedSearch(const PackedSearch&) = delete;
  PackedSearch& operator=(const PackedSearch&) = delete;
  ~PackedSearch() = default;

  /// The patches that the reference at this place keeps. Holds until the next call.
  [[nodiscard]] const PatchKeys& keys_of(const PerAxis& place) noexcept;
  /// What the numbers in those keys mean.
  [[nodiscard]] const PatchCandidates& candidates() const noexcept { return candidates_; }

 private:
  const T* volume_;
  mathematics::PatchGeometry geometry_;
  PackedReference<T> reference_;
  PatchCandidates candidates_;
  std::uint64_t memory_of_keys_[PatchMatch::kMostPatches];
  PatchKeys keys_;
};

extern template class PackedSearch<std::uint8_t>;
extern template class PackedSearch<std::uint16_t>;
extern template class PackedSearch<float>;

}  // namespace tessera::cpu_tbb
