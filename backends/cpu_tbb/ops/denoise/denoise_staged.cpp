// The variant "staged": every stage of the operator over all stacks of a piece before the next one begins, with memory
// between them. The loops of a stage are in denoise_plain.h, those of the match in patch_match's plain loops.
//
//   match          transform         shrink           transform back    add
//   indices  --->  coefficients ---> coefficients --> estimates   ----> sums of the slab
//   references     x patches of a stack x voxels of a patch             whole numbers, added by any thread at any time
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include "ops/denoise/denoise_operands.h"
#include "ops/denoise/denoise_plain.h"
#include "ops/denoise/denoise_variants.h"
#include "ops/patch_match/patch_match_plain.h"

namespace tessera::cpu_tbb {

namespace {

/// Numbers that the stages of one piece may hold, from which its references follow.
constexpr std::int64_t kMostCoefficients = 1 << 22;

/// Stacks of some references, between the stages.
template <class T>
class StagedPiece {
 public:
  StagedPiece(Executor& executor, const DenoiseStepPlan& plan, const DenoiseInput<T>& input, std::int64_t first,
              std::int64_t count)
      : executor_(executor),
        plan_(plan),
        input_(input),
        first_(first),
        count_(count),
        places_(plan.step.max_patches),
        voxels_(plan.step.patch.product()),
        distances_(static_cast<std::size_t>(count * places_)),
        indices_(static_cast<std::size_t>(count * places_)),
        members_(static_cast<std::size_t>(count)),
        weights_(static_cast<std::size_t>(count)),
        coefficients_(static_cast<std::size_t>(count * places_ * voxels_)),
        guide_(input.basic == nullptr ? 0 : coefficients_.size()) {}

  void match() {
    using Distance = typename PatchOperands<T>::Distance;
    std::array<std::byte*, 4> addresses{};
    addresses[0] = reinterpret_cast<std::byte*>(const_cast<T*>(input_.match));
    const PatchOperands<T> operands(plan_.matching, addresses);
    const auto largest = mathematics::largest_kept_distance<Distance>(plan_.matching);
    each([&](std::int64_t i) {
      PatchStack<Distance> stack(distances_.data() + i * places_, indices_.data() + i * places_, places_, largest);
      match_patch(operands, first_ + i, stack);
      members_[static_cast<std::size_t>(i)] = filtered_members(stack.count());
    });
  }

  void transform(std::int64_t channel) {
    each_patch([&](std::int64_t index, std::int64_t at) {
      load(input_.volume, input_.basic, index, channel, coefficients_.data() + at);
      if (!guide_.empty()) load(input_.basic, static_cast<const T*>(nullptr), index, channel, guide_.data() + at);
    });
  }

  void shrink(std::int64_t channel) {
    each([&](std::int64_t i) {
      const std::int64_t members = members_[static_cast<std::size_t>(i)];
      float* const guide = guide_.empty() ? nullptr : guide_.data() + i * places_ * voxels_;
      if (members != 0)
        weights_[static_cast<std::size_t>(i)] =
            shrink_plain(plan_, channel, coefficients_.data() + i * places_ * voxels_, guide, members);
    });
  }

  void transform_back() {
    each_patch([&](std::int64_t, std::int64_t at) { transform_patch_plain(plan_, coefficients_.data() + at, true); });
  }

  void add(const DenoiseSums& sums, std::int64_t channel) {
    const SumsOfChannel to = sums.channel(channel);
    each_patch([&](std::int64_t index, std::int64_t at) {
      const float weight = weights_[static_cast<std::size_t>(at / (places_ * voxels_))];
      over_voxels(index, [&](const PerAxis& place, std::int64_t v) {
        const auto voxel = static_cast<std::size_t>(v);
        const std::int64_t units = weight_units(weight, plan_.tables.window[voxel]);
        const std::int64_t estimate = estimate_units(plan_, coefficients_[static_cast<std::size_t>(at) + voxel]);
        const std::int64_t sum = sums.index(place);
        std::atomic_ref(to.estimates[sum]).fetch_add(units * estimate, std::memory_order_relaxed);
        std::atomic_ref(to.weights[sum]).fetch_add(units, std::memory_order_relaxed);
      });
    });
  }

 private:
  template <class Work>
  void each(const Work& work) {
    executor_.parallel_for(count_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) work(i);
    });
  }
  /// Calls `work(index of the patch in the volume, where its coefficients begin)` for the members of all stacks.
  template <class Work>
  void each_patch(const Work& work) {
    each([&](std::int64_t i) {
      for (std::int64_t m = 0; m < members_[static_cast<std::size_t>(i)]; ++m)
        work(indices_[static_cast<std::size_t>(i * places_ + m)], (i * places_ + m) * voxels_);
    });
  }
  /// Calls `work(place in the volume, number in the patch)` for the voxels of the patch that begins there.
  template <class Work>
  void over_voxels(std::int64_t index, const Work& work) const {
    const PerAxis& size = plan_.problem.size;
    const PerAxis& patch = plan_.step.patch;
    const PerAxis at{index % size.x, index / size.x % size.y, index / size.x / size.y};
    std::int64_t v = 0;
    for (std::int64_t z = 0; z < patch.z; ++z) {
      for (std::int64_t y = 0; y < patch.y; ++y) {
        for (std::int64_t x = 0; x < patch.x; ++x, ++v) work(PerAxis{at.x + x, at.y + y, at.z + z}, v);
      }
    }
  }
  void load(const T* from, const T* instead, std::int64_t index, std::int64_t channel, float* patch) const {
    const PerAxis& size = plan_.problem.size;
    over_voxels(index, [&](const PerAxis& place, std::int64_t v) {
      patch[v] = scaled_voxel(plan_, from, instead, (place.z * size.y + place.y) * size.x + place.x, channel);
    });
    transform_patch_plain(plan_, patch, false);
  }

  Executor& executor_;
  const DenoiseStepPlan& plan_;
  const DenoiseInput<T>& input_;
  std::int64_t first_;
  std::int64_t count_;
  std::int64_t places_;
  std::int64_t voxels_;
  std::vector<typename PatchOperands<T>::Distance> distances_;
  std::vector<std::int64_t> indices_;
  std::vector<std::int64_t> members_;
  std::vector<float> weights_;
  std::vector<float> coefficients_;
  std::vector<float> guide_;
};

struct FilterInStages {
  template <class T>
  void operator()(Executor& executor, const DenoiseStepPlan& plan, const DenoiseInput<T>& input,
                  const ReferenceBox& box, DenoiseSums& sums) const {
    // A slab has whole lines of the last axis with several references, so that its numbers follow each other.
    const PerAxis references = plan.matching.references();
    const auto number = [&](const PerAxis& at) { return (at.z * references.y + at.y) * references.x + at.x; };
    const std::int64_t end = number({box.end.x - 1, box.end.y - 1, box.end.z - 1}) + 1;
    const std::int64_t of_stack = plan.step.max_patches * plan.step.patch.product();
    const std::int64_t most = std::max<std::int64_t>(kMostCoefficients / of_stack, 1);
    for (std::int64_t first = number(box.first); first < end; first += most) {
      StagedPiece<T> piece(executor, plan, input, first, std::min(most, end - first));
      piece.match();
      for (std::int64_t channel = 0; channel < plan.problem.channels; ++channel) {
        piece.transform(channel);
        piece.shrink(channel);
        piece.transform_back();
        piece.add(sums, channel);
      }
    }
  }
};

}  // namespace

backend::Variant<Denoise> denoise_staged() {
  return {.name = "staged",
          .summary = "match, transform, shrink, transform back and add, each for many stacks before the next",
          .check = [](const Denoise&, const backend::Device&) { return backend::Verdict::yes(); },
          .tunables = denoise_tunables,
          .make = [](const Denoise& problem, backend::Device&,
                     const Tuning& tuning) { return make_denoise_kernel(problem, tuning, FilterInStages()); }};
}

}  // namespace tessera::cpu_tbb
