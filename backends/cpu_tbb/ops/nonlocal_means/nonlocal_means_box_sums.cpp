// The variant "box_sums": voxels in tiles, which look at one offset after the other. At each of them the squares of
// differences are summed along the axes, so that neighbours share what they have in common; the picture is in
// nonlocal_means_box_kernel.cpp. A thread holds the sums of one tile, which do not depend on the window.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mathematics/division.h"
#include "ops/nonlocal_means/nonlocal_means_box_kernel.h"
#include "ops/nonlocal_means/nonlocal_means_operands.h"
#include "ops/nonlocal_means/nonlocal_means_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// Voxels of a tile: lines of a few vectors, and so many of them that what patches reach beyond it costs little.
constexpr PerAxis kMeansImageTile{64, 32, 1};
constexpr PerAxis kMeansVolumeTile{64, 8, 8};
/// Numbers behind a line that the widest vectors may write.
constexpr std::int64_t kMeansBehind = 32;

/// How voxels are cut into tiles, and what the largest takes.
template <class Sum>
struct MeansTiles {
  explicit MeansTiles(const NonlocalMeans& problem) noexcept {
    const PerAxis& size = problem.size;
    const PerAxis& usual = size.z == 1 ? kMeansImageTile : kMeansVolumeTile;
    most = {std::min(usual.x, size.x), std::min(usual.y, size.y), std::min(usual.z, size.z)};
    count = {mathematics::ceil_div(size.x, most.x), mathematics::ceil_div(size.y, most.y),
             mathematics::ceil_div(size.z, most.z)};
    line = most.x + problem.patch.x + kMeansBehind;
    rows = most.y + problem.patch.y - 1;
    lines_of_distances = 1 + rows + most.y * (most.z + problem.patch.z - 1);
    lines_of_sums = most.y * most.z * (1 + problem.channels);
  }
  [[nodiscard]] std::size_t sums_bytes() const noexcept {
    return static_cast<std::size_t>(lines_of_sums * line) * sizeof(std::int64_t);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return sums_bytes() + static_cast<std::size_t>(lines_of_distances * line) * sizeof(Sum);
  }

  PerAxis most;   ///< voxels of one tile
  PerAxis count;  ///< of tiles
  std::int64_t line = 0;
  std::int64_t rows = 0;
  std::int64_t lines_of_distances = 0;
  std::int64_t lines_of_sums = 0;
};

/// One thread's tile.
template <class T>
class MeansTileRun {
 public:
  using Sum = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int32_t, double>;
  using Tiles = MeansTiles<Sum>;

  MeansTileRun(ScratchPool& pool, const Tiles& tiles, const MeansVolume<T>& volume,
               const std::vector<std::uint32_t>& weights)
      : tiles_(tiles), volume_(volume), loan_(pool, tiles.bytes()) {
    const NonlocalMeans& p = volume.problem;
    tile_.sums = reinterpret_cast<std::int64_t*>(loan_.data());
    tile_.memory = reinterpret_cast<Sum*>(loan_.data() + tiles.sums_bytes());
    tile_.line = tiles.line;
    tile_.rows = tiles.rows;
    tile_.row = volume.row;
    tile_.plane = volume.plane;
    tile_.channel = volume.channel;
    tile_.channels = p.channels;
    tile_.middle = volume.middle();
    tile_.patch = p.patch;
    tile_.table = reinterpret_cast<const std::int32_t*>(weights.data());
    tile_.table_end = static_cast<float>(std::find(weights.begin(), weights.end(), 0U) - weights.begin());
    tile_.steps = volume.scale.steps;
    // Sums of bytes are below 2^31: noise beyond that makes all of them weigh 1.
    constexpr std::uint64_t kMost = std::is_same_v<Sum, double> ? std::uint64_t{1} << 53 : 0x7fffffffU;
    tile_.noise = static_cast<Sum>(std::min(volume.scale.noise, kMost));
    tile_.reach = static_cast<Sum>(std::min(mathematics::means_reach(p), kMost));
  }

  void compute(std::int64_t number) noexcept {
    const PerAxis& size = volume_.problem.size;
    first_ = {number % tiles_.count.x * tiles_.most.x, number / tiles_.count.x % tiles_.count.y * tiles_.most.y,
              number / tiles_.count.x / tiles_.count.y * tiles_.most.z};
    tile_.count = {std::min(tiles_.most.x, size.x - first_.x), std::min(tiles_.most.y, size.y - first_.y),
                   std::min(tiles_.most.z, size.z - first_.z)};
    tile_.voxels = volume_.patch(first_);
    std::fill_n(tile_.sums, tile_.lines() * (1 + tile_.channels) * tile_.line, 0);
    add_offsets();
    write();
  }

 private:
  /// Of the tile's voxels along an axis, those whose candidates at this offset lie in the volume. False if none.
  static bool cut(const mathematics::MeansAxis& axis, std::int64_t place, std::int64_t count, std::int64_t offset,
                  std::int64_t& first, std::int64_t& end) noexcept {
    first = std::max<std::int64_t>(-offset - place, 0);
    end = std::min(axis.size - offset - place, count);
    return first < end;
  }
  void add_offsets() noexcept {
    const auto& [x, y, z] = volume_.axes;
    MeansOffset o;
    for (std::int64_t oz = -z.candidates_before; oz <= z.candidates_behind; ++oz) {
      if (!cut(z, first_.z, tile_.count.z, oz, o.first.z, o.end.z)) continue;
      for (std::int64_t oy = -y.candidates_before; oy <= y.candidates_behind; ++oy) {
        if (!cut(y, first_.y, tile_.count.y, oy, o.first.y, o.end.y)) continue;
        for (std::int64_t ox = -x.candidates_before; ox <= x.candidates_behind; ++ox) {
          if (!cut(x, first_.x, tile_.count.x, ox, o.first.x, o.end.x)) continue;
          o.shift = oz * tile_.plane + oy * tile_.row + ox;
          add_means_offset(tile_, o);
        }
      }
    }
  }
  void write() const noexcept {
    for (std::int64_t line = 0; line < tile_.lines(); ++line) {
      const std::int64_t* const weights = tile_.sums + line * tile_.line;
      for (std::int64_t channel = 0; channel < tile_.channels; ++channel) {
        const std::int64_t* const sums = weights + (channel + 1) * tile_.lines() * tile_.line;
        const PerAxis at{first_.x, first_.y + line % tile_.count.y, first_.z + line / tile_.count.y};
        for (std::int64_t x = 0; x < tile_.count.x; ++x)
          volume_.write({at.x + x, at.y, at.z}, channel, sums[x], weights[x]);
      }
    }
  }

  const Tiles& tiles_;
  const MeansVolume<T>& volume_;
  ScratchPool::Loan loan_;
  MeansTile<Sum> tile_;
  PerAxis first_;
};

std::unique_ptr<backend::Kernel> make(const NonlocalMeans& problem, backend::Device& /*device*/,
                                      const Tuning& /*tuning*/) {
  return make_means_kernel(problem, []<class T>(Executor& executor, const MeansOperands<T>& operands) {
    const MeansVolume<T> volume(executor, operands);
    const typename MeansTileRun<T>::Tiles tiles(operands.problem);
    executor.parallel_for(tiles.count.product(), [&](std::int64_t begin, std::int64_t end) {
      MeansTileRun<T> run(executor.scratch(), tiles, volume, operands.weights);
      for (std::int64_t tile = begin; tile < end; ++tile) run.compute(tile);
    });
  });
}

}  // namespace

backend::Variant<NonlocalMeans> nonlocal_means_box_sums() {
  return {.name = "box_sums",
          .summary = "one offset after the other, box sums of squared differences that neighbours share",
          .check = [](const NonlocalMeans&, const backend::Device&) { return backend::Verdict::yes(); },
          .tunables = nullptr,
          .make = make};
}

}  // namespace tessera::cpu_tbb
