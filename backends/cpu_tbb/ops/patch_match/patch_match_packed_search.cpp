// Where the voxels of a reference and of its candidates begin.
#include "ops/patch_match/patch_match_packed_search.h"

#include <algorithm>
#include <limits>

#include "backend/sentence.h"
#include "ops/patch_match/patch_match_packed_layout.h"

namespace tessera::cpu_tbb {

namespace {

/// Memory of one thread beyond which a window is too large.
constexpr double kMostPackedBytes = 64 << 20;

template <class T>
PackedDistance<T> first_unkept(const PatchMatch& problem) noexcept {
  using Distance = PackedDistance<T>;
  using Whole = typename PatchOperands<T>::Distance;
  constexpr Distance kMost = std::numeric_limits<Distance>::has_infinity ? std::numeric_limits<Distance>::infinity()
                                                                         : std::numeric_limits<Distance>::max();
  return static_cast<Distance>(std::min<Whole>(first_unkept_distance<Whole>(problem), kMost));
}

}  // namespace

double packed_search_bytes(const PatchMatch& problem) noexcept {
  const mathematics::PatchGeometry g(problem);
  return packed_bytes({g.x.most_candidates(), g.y.most_candidates(), g.z.most_candidates()}, problem.patch);
}

std::string why_no_packed_search(const PatchMatch& problem) {
  using backend::sentence;
  const std::int64_t voxels = problem.patch.product();
  if (problem.type != DataType::float32 && voxels > kMostPackedVoxels)
    return sentence("the patch of patch_match has ", voxels, " voxels, but up to ", kMostPackedVoxels,
                    " sums of bytes fit into 32 bits");
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty()) return reason;
  const double bytes = packed_search_bytes(problem);
  if (bytes > kMostPackedBytes)
    return sentence("the window of patch_match takes ", bytes, " bytes of a thread's memory, but ", kMostPackedBytes,
                    " are the most");
  return "";
}

template <class T>
PackedSearch<T>::PackedSearch(const PatchMatch& problem, const T* volume, std::byte* memory) noexcept
    : volume_(volume),
      geometry_(problem),
      keys_(memory_of_keys_, problem.max_patches, mathematics::patch_key_bits(problem).number) {
  reference_.volume_end = volume + problem.held().product();
  reference_.row = geometry_.x.size;
  reference_.plane = geometry_.x.size * geometry_.y.size;
  reference_.patch = problem.patch;
  reference_.memory = memory;
  reference_.first_unkept = first_unkept<T>(problem);
}

template <class T>
const PatchKeys& PackedSearch<T>::keys_of(const PerAxis& place) noexcept {
  const auto voxel = [&](const PerAxis& at) {
    return volume_ + (at.z * geometry_.y.size + at.y) * geometry_.x.size + at.x;
  };
  candidates_ = candidates_of(geometry_, place);
  reference_.reference = voxel(place);
  reference_.first = voxel(candidates_.first);
  reference_.candidates = candidates_.count;
  keys_.clear();
  match_packed(reference_, keys_);
  return keys_;
}

template class PackedSearch<std::uint8_t>;
template class PackedSearch<std::uint16_t>;
template class PackedSearch<float>;

}  // namespace tessera::cpu_tbb
