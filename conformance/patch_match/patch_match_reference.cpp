// What the stacks of a patch_match must be, and comparing them with it.
#include "conformance/patch_match/patch_match_reference.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "conformance/guarded_buffer.h"
#include "conformance/inputs.h"

namespace tessera::conformance {

namespace {

/// Differences of voxels that the references looked at may take together: half a second on one core.
constexpr double kMostDifferences = 1 << 26;
/// Of a large case at least so many references are looked at.
constexpr std::int64_t kFewestReferences = 64;

template <class T>
constexpr PatchDistance<T> empty_distance() {
  using Limits = std::numeric_limits<PatchDistance<T>>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

/// Candidates of a reference that stands far from every border.
double most_candidates(const PatchMatch& p) {
  const auto along = [](std::int64_t window, std::int64_t size, std::int64_t patch) {
    return static_cast<double>(std::min(window, size - patch + 1));
  };
  return along(p.window.x, p.size.x, p.patch.x) * along(p.window.y, p.size.y, p.patch.y) *
         along(p.window.z, p.size.z, p.patch.z);
}

template <class Element>
void check_written(const char* name, std::span<const Element> found, Comparison& comparison) {
  const Element unwritten = poison<Element>();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::memcmp(&found[i], &unwritten, sizeof unwritten) != 0) continue;
    comparison.fail("number " + std::to_string(i) + " of " + name + " is not written");
    return;
  }
}

}  // namespace

template <class T>
void check_stack(const PatchResults<T>& found, const PatchStack<T>& expected, std::int64_t reference,
                 Comparison& comparison) {
  // Words for what is wrong alone: most of a test's time would go into those for what is right.
  const auto name = [reference] { return "reference " + std::to_string(reference); };
  const auto place = [&](std::size_t i) { return "place " + std::to_string(i) + " of the stack of " + name(); };
  const std::size_t count = expected.indices.size();
  if (found.counts[0] != static_cast<std::int32_t>(count))
    comparison.fail("the count of " + name() + " is " + std::to_string(found.counts[0]) + ", but must be " +
                    std::to_string(count));
  for (std::size_t i = 0; i < found.indices.size(); ++i) {
    const bool is_kept = i < count;
    const std::int64_t index = is_kept ? expected.indices[i] : -1;
    const PatchDistance<T> distance = is_kept ? expected.distances[i] : empty_distance<T>();
    if (found.indices[i] != index)
      comparison.fail(place(i) + " holds the patch " + std::to_string(found.indices[i]) + ", but must hold " +
                      std::to_string(index));
    if (is_kept) {
      const Expected exactly{{static_cast<double>(distance), 0}, 0};
      const auto value = static_cast<double>(found.distances[i]);
      if (!comparison.accepts(value, exactly))
        comparison.fail(place(i) + ", its distance: " + describe_difference(value, exactly));
    } else if (found.distances[i] != distance) {
      comparison.fail(place(i) + " is empty, but its distance is " + std::to_string(found.distances[i]));
    }
  }
}

template <class T>
PatchReference<T>::PatchReference(const PatchMatch& problem, std::span<const T> volume, std::uint64_t seed)
    : problem_(problem) {
  const std::int64_t references = problem.references().product();
  const double each = most_candidates(problem) * static_cast<double>(problem.patch.product());
  const std::int64_t affordable = std::max(kFewestReferences, static_cast<std::int64_t>(kMostDifferences / each));
  const auto voxel = [volume](std::int64_t index) { return volume[static_cast<std::size_t>(index)]; };
  for (std::int64_t i = 0; i < std::min(references, affordable); ++i) {
    const auto drawn = static_cast<std::int64_t>(
        random_below(static_cast<std::uint64_t>(references), seed, static_cast<std::uint64_t>(i)));
    const std::int64_t chosen = i == 0 ? 0 : i == 1 ? references - 1 : drawn;
    const std::int64_t reference = affordable < references ? chosen : i;
    samples_.push_back({reference, expected_stack<T>(problem, voxel, reference)});
  }
}

template <class T>
void PatchReference<T>::check(const PatchResults<T>& results, Comparison& comparison) const {
  const auto places = static_cast<std::size_t>(problem_.max_patches);
  for (const Sample& sample : samples_) {
    const auto reference = static_cast<std::size_t>(sample.reference);
    check_stack<T>({.counts = results.counts.subspan(reference, 1),
                    .distances = results.distances.subspan(reference * places, places),
                    .indices = results.indices.subspan(reference * places, places)},
                   sample.stack, sample.reference, comparison);
  }
  check_written("counts", results.counts, comparison);
  check_written("distances", results.distances, comparison);
  check_written("indices", results.indices, comparison);
}

template void check_stack<std::uint8_t>(const PatchResults<std::uint8_t>&, const PatchStack<std::uint8_t>&,
                                        std::int64_t, Comparison&);
template void check_stack<std::uint16_t>(const PatchResults<std::uint16_t>&, const PatchStack<std::uint16_t>&,
                                         std::int64_t, Comparison&);
template void check_stack<float>(const PatchResults<float>&, const PatchStack<float>&, std::int64_t, Comparison&);
template class PatchReference<std::uint8_t>;
template class PatchReference<std::uint16_t>;
template class PatchReference<float>;

}  // namespace tessera::conformance
