// The variant "packed_key": a vector of candidates against one reference, and stacks of sorted keys, each a distance
// and a number in 64 bits. The picture is in patch_match_packed_kernel.cpp; here references are dealt to the threads,
// in stretches of rows.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "ops/patch_match/patch_match_packed_layout.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// References of a stretch: small enough that an image has work for many threads.
constexpr std::int64_t kStretch = 16;
/// Memory of one thread beyond which a window is too large.
constexpr double kMostPackedBytes = 64 << 20;

PerAxis most_candidates(const mathematics::PatchGeometry& g) {
  return {g.x.most_candidates(), g.y.most_candidates(), g.z.most_candidates()};
}

template <class T>
void match_stretch(const PatchOperands<T>& match, std::int64_t row, std::int64_t first, std::int64_t last,
                   std::byte* memory) {
  using Distance = PackedDistance<T>;
  const mathematics::PatchGeometry& g = match.geometry;
  const std::int64_t y = g.y.place(row % g.y.references);
  const std::int64_t z = g.z.place(row / g.y.references);
  std::uint64_t memory_of_keys[PatchMatch::kMostPatches];
  PatchKeys keys(memory_of_keys, match.problem.max_patches, mathematics::patch_key_bits(match.problem).number);
  PackedReference<T> reference;
  reference.volume_end = match.volume + match.problem.size.product();
  reference.row = g.x.size;
  reference.plane = g.x.size * g.y.size;
  reference.patch = match.problem.patch;
  reference.memory = memory;
  const auto unkept = first_unkept_distance<typename PatchOperands<T>::Distance>(match.problem);
  reference.first_unkept = static_cast<Distance>(std::min<typename PatchOperands<T>::Distance>(
      unkept, std::numeric_limits<Distance>::has_infinity ? std::numeric_limits<Distance>::infinity()
                                                          : std::numeric_limits<Distance>::max()));
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t x = g.x.place(i);
    const PatchCandidates candidates = candidates_of(g, {x, y, z});
    const auto voxel = [&](const PerAxis& at) { return match.volume + (at.z * g.y.size + at.y) * g.x.size + at.x; };
    reference.reference = voxel({x, y, z});
    reference.first = voxel(candidates.first);
    reference.candidates = candidates.count;
    keys.clear();
    match_packed(reference, keys);
    write_stack(match, row * g.x.references + i, keys, candidates);
  }
}

backend::Verdict check(const PatchMatch& problem, const backend::Device& /*device*/) {
  using backend::sentence;
  const std::int64_t voxels = problem.patch.product();
  if (problem.type != DataType::float32 && voxels > kMostPackedVoxels)
    return backend::Verdict::no(sentence("the patch of patch_match has ", voxels, " voxels, but up to ",
                                         kMostPackedVoxels, " sums of bytes fit into 32 bits"));
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty())
    return backend::Verdict::no(std::move(reason));
  const double bytes = packed_bytes(most_candidates(mathematics::PatchGeometry(problem)), problem.patch);
  if (bytes > kMostPackedBytes)
    return backend::Verdict::no(sentence("the window of patch_match takes ", bytes, " bytes of a thread's memory, but ",
                                         kMostPackedBytes, " are the most"));
  return backend::Verdict::yes();
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& /*device*/,
                                      const Tuning& /*tuning*/) {
  return make_patch_kernel(problem, []<class T>(Executor& executor, const PatchOperands<T>& match) {
    const mathematics::PatchGeometry& g = match.geometry;
    const std::int64_t stretches = mathematics::ceil_div(g.x.references, kStretch);
    const auto bytes = static_cast<std::size_t>(packed_bytes(most_candidates(g), match.problem.patch));
    executor.parallel_for(stretches * g.y.references * g.z.references, [&](std::int64_t begin, std::int64_t end) {
      const ScratchPool::Loan memory(executor.scratch(), bytes);
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        const std::int64_t first = chunk % stretches * kStretch;
        match_stretch(match, chunk / stretches, first, std::min(first + kStretch, g.x.references), memory.data());
      }
    });
  });
}

}  // namespace

backend::Variant<PatchMatch> patch_match_packed_key() {
  return {.name = "packed_key",
          .summary = "vectors of neighbouring candidates, what is further than the last kept left early, sorted keys",
          .check = check,
          .tunables = nullptr,
          .make = make};
}

}  // namespace tessera::cpu_tbb
