// The variant "packed_key": a vector of candidates against one reference, and stacks of sorted keys, each a distance
// and a number in 64 bits. The picture is in patch_match_packed_kernel.cpp; here references are dealt to the threads,
// in stretches of rows.
#include <algorithm>
#include <string>
#include <utility>

#include "mathematics/division.h"
#include "ops/patch_match/patch_match_packed_search.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// References of a stretch: small enough that an image has work for many threads.
constexpr std::int64_t kStretch = 16;

template <class T>
void match_stretch(const PatchOperands<T>& match, std::int64_t row, std::int64_t first, std::int64_t last,
                   std::byte* memory) {
  const mathematics::PatchGeometry& g = match.geometry;
  const std::int64_t y = g.y.place(row % g.y.references);
  const std::int64_t z = g.z.place(row / g.y.references);
  PackedSearch<T> search(match.problem, match.volume, memory);
  for (std::int64_t i = first; i < last; ++i) {
    const PatchKeys& keys = search.keys_of({g.x.place(i), y, z});
    write_stack(match, row * g.x.references + i, keys, search.candidates());
  }
}

backend::Verdict check(const PatchMatch& problem, const backend::Device& /*device*/) {
  std::string reason = why_no_packed_search(problem);
  return reason.empty() ? backend::Verdict::yes() : backend::Verdict::no(std::move(reason));
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& /*device*/,
                                      const Tuning& /*tuning*/) {
  return make_patch_kernel(problem, []<class T>(Executor& executor, const PatchOperands<T>& match) {
    const mathematics::PatchGeometry& g = match.geometry;
    const std::int64_t stretches = mathematics::ceil_div(g.x.references, kStretch);
    const auto bytes = static_cast<std::size_t>(packed_search_bytes(match.problem));
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
