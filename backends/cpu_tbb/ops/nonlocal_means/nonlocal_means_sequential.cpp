// The variant "sequential": the definition written down as loops, on the queue's own thread. It must stay so: it is the
// baseline of every speed-up that is reported.
//
//   volume in whole numbers, mirrored beyond its borders         Each voxel is compared with every candidate of its
//   +-----------------+                                          window, patch with patch, voxel by voxel. What the
//   |    +-window-+   |     distance ---> weight ---> sums of    distance weighs is looked up in a table of 4096
//   |    | i  j   |   |                   weights and of         entries, 16 KB.
//   |    +--------+   |                   weighed voxels
//   +-----------------+
#include "ops/nonlocal_means/nonlocal_means_operands.h"
#include "ops/nonlocal_means/nonlocal_means_variants.h"

namespace tessera::cpu_tbb {

namespace {

template <class T>
class PlainMeans {
 public:
  PlainMeans(const MeansOperands<T>& operands, const MeansVolume<T>& volume)
      : weights_(operands.weights), volume_(volume), reach_(mathematics::means_reach(volume.problem)) {}

  void compute(const PerAxis& at) const noexcept {
    const auto& [x, y, z] = volume_.axes;
    const std::int32_t* const patch = volume_.patch(at);
    const std::int64_t channels = volume_.problem.channels;
    std::int64_t weights = 0;
    std::uint64_t sums[3] = {};  // wrap where a voxel that is not finite is summed, for which they do not count
    for (std::int64_t cz = first(z, at.z); cz <= last(z, at.z); ++cz) {
      for (std::int64_t cy = first(y, at.y); cy <= last(y, at.y); ++cy) {
        for (std::int64_t cx = first(x, at.x); cx <= last(x, at.x); ++cx) {
          const std::int32_t* const candidate = volume_.patch({cx, cy, cz});
          const std::int64_t weight = weight_of(distance(patch, candidate));
          weights += weight;
          for (std::int64_t channel = 0; channel < channels; ++channel)
            sums[channel] +=
                static_cast<std::uint64_t>(weight * candidate[volume_.middle() + channel * volume_.channel]);
        }
      }
    }
    for (std::int64_t channel = 0; channel < channels; ++channel)
      volume_.write(at, channel, static_cast<std::int64_t>(sums[channel]), weights);
  }

 private:
  static std::int64_t first(const mathematics::MeansAxis& axis, std::int64_t place) noexcept {
    return std::max<std::int64_t>(place - axis.candidates_before, 0);
  }
  static std::int64_t last(const mathematics::MeansAxis& axis, std::int64_t place) noexcept {
    return std::min(place + axis.candidates_behind, axis.size - 1);
  }
  [[nodiscard]] std::uint64_t distance(const std::int32_t* a, const std::int32_t* b) const noexcept {
    const PerAxis& side = volume_.problem.patch;
    std::uint64_t sum = 0;
    for (std::int64_t channel = 0; channel < volume_.problem.channels; ++channel) {
      for (std::int64_t z = 0; z < side.z; ++z) {
        for (std::int64_t y = 0; y < side.y; ++y) {
          const std::int64_t line = channel * volume_.channel + z * volume_.plane + y * volume_.row;
          for (std::int64_t i = line; i < line + side.x; ++i) {
            const std::int64_t apart = std::int64_t{a[i]} - b[i];
            sum += static_cast<std::uint64_t>(apart * apart);
          }
        }
      }
    }
    return sum;
  }
  [[nodiscard]] std::int64_t weight_of(std::uint64_t distance) const noexcept {
    if (distance > reach_) return 0;
    const mathematics::MeansScale& scale = volume_.scale;
    const float steps = static_cast<float>(distance > scale.noise ? distance - scale.noise : 0) * scale.steps;
    constexpr auto kLast = static_cast<float>(mathematics::kMeansWeights - 1);
    return weights_[static_cast<std::size_t>(std::min(steps, kLast))];
  }

  const std::vector<std::uint32_t>& weights_;
  const MeansVolume<T>& volume_;
  std::uint64_t reach_;
};

}  // namespace

backend::Variant<NonlocalMeans> nonlocal_means_sequential() {
  return {
      .name = "sequential",
      .summary = "every candidate's patch voxel by voxel, on one thread",
      .check = [](const NonlocalMeans&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const NonlocalMeans& problem, backend::Device&, const Tuning&) {
            return make_means_kernel(problem, []<class T>(Executor& executor, const MeansOperands<T>& operands) {
              const auto alone = executor.alone();
              const MeansVolume<T> volume(*alone, operands);
              const PlainMeans<T> means(operands, volume);
              const PerAxis& size = operands.problem.size;
              for (std::int64_t z = 0; z < size.z; ++z) {
                for (std::int64_t y = 0; y < size.y; ++y) {
                  for (std::int64_t x = 0; x < size.x; ++x) means.compute({x, y, z});
                }
              }
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
