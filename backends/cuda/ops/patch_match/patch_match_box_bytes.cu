// patch_match, box_sums for bytes: patches of 4 x 4 x 4, a window of 11 along x, a reference at every place.
//
//   a thread    4 x 2 references, x and y   For every row of candidates, 11 along x, it walks once over the columns of
//               +--+--+--+--+               their voxels. A column of the references' voxels, kept in registers, times
//               |0 |1 |2 |3 |               a column of the candidates' gives two sums of products along y and z, of 4
//               +--+--+--+--+               voxels at a time (dp4a); a sum along x moves on by one such column that
//               |4 |5 |6 |7 |               comes and one that goes. Of 64 products a distance costs six instructions.
//               +--+--+--+--+
//   a warp      32 threads along z
//   a group     2 x 4 warps: 8 x 8 x 32 references, all candidates' words and norms in shared memory
//
//   distance = norm of reference + norm of candidate - 2 * sum of products, whole numbers, so that any order will do
//
// What is nearer than the last one kept goes to a short list in shared memory, one a reference. When one of a warp's
// lists may fill up, the lists of the same reference of all threads are sorted and merged with their stacks by networks
// of minimum and maximum: 16 sorted keys of 32 bits in registers. A place whose candidate does not exist has a norm
// beyond every limit.
#include <utility>

#include "ops/patch_match/patch_match_box_bytes.cuh"
#include "ops/patch_match/patch_match_box_stack.cuh"

namespace tessera::cuda {

namespace {

/// One thread's references: x fastest.
class BoxThread {
 public:
  __device__ BoxThread(const PatchBoxArguments& box, unsigned char* shared)
      : box_(box),
        words_(reinterpret_cast<std::uint32_t*>(shared)),
        norms_(reinterpret_cast<const std::int32_t*>(words_ + Box::kWords)),
        lists_(shared + sizeof(std::int32_t) * (Box::kWords + Box::kNorms)) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    at_[0] = warp % Box::kWarpsX * Box::kX;
    at_[1] = warp / Box::kWarpsX * Box::kY;
    at_[2] = static_cast<int>(threadIdx.x) % 32;
    const BoxTile tile(box);
    const int half_y = static_cast<int>(box.match.window[1] / 2);
    const int half_z = static_cast<int>(box.match.window[2] / 2);
#pragma unroll
    for (int x = 0; x < Box::kX + 3; ++x) {
#pragma unroll
      for (int y = 0; y < Box::kY + 3; ++y) {
        own_[x][y] = words_[Box::word_at(at_[0] + x + Box::kHalfX, at_[1] + y + half_y, at_[2] + half_z)];
      }
    }
    own_norms_ = norms_ + Box::norm_at(at_[0] + Box::kHalfX, at_[1] + half_y, at_[2] + half_z);
#pragma unroll
    for (int r = 0; r < Box::kReferences; ++r) {
      const int x = at_[0] + r % Box::kX;
      const int y = at_[1] + r / Box::kX;
      const bool is_there = tile.is_reference(x, y, at_[2]);
      limit_[r] = is_there ? box.first_unkept - norm(r) : INT_MIN;
      stacks_[r].clear(static_cast<int>(box.match.max_patches));
      end_[r] = threadIdx.x * 4;
    }
  }

  /// All candidates of one row of the window.
  __device__ __forceinline__ void look_at_row(int y, int z, std::uint32_t number) {
    const Row row{words_ + Box::word_at(at_[0], at_[1] + y, at_[2] + z),
                  norms_ + Box::norm_at(at_[0], at_[1] + y, at_[2] + z), number};
    Sums sums;
    look_at_columns<0>(row, sums, std::make_integer_sequence<int, 3>());
    // In a loop that is not unrolled, so that the networks stand once for each reference in the program.
#pragma unroll 1
    for (int part = 0; part < Box::kParts; ++part) {
      make_room();
      look_at_part(row, sums, part, std::make_integer_sequence<int, Box::kParts>());
    }
  }

  /// Merges every list that may fill up before it is asked again, and with it those of the warp.
  __device__ __forceinline__ void make_room() {
    unsigned most = end_[0];
#pragma unroll
    for (int r = 1; r < Box::kReferences; ++r) most = max(most, end_[r]);
    constexpr unsigned kFull = (Box::kSlots - Box::kColumnsAtOnce + 1) * Box::kSlotBytes;
    if (!__any_sync(0xffffffffU, most >= kFull)) return;
#pragma unroll
    for (int r = 0; r < Box::kReferences; ++r) {
      if (__any_sync(0xffffffffU, end_[r] >= kFull)) merge_list(r);
    }
  }
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int r = 0; r < Box::kReferences; ++r) merge_list(r);
  }

  /// Writes the stacks of a warp, references that are neighbours in memory one behind the other. All threads call it.
  __device__ __forceinline__ void write() const {
    auto* const exchange = reinterpret_cast<std::uint32_t*>(lists_) + threadIdx.x / 32 * Box::kExchange;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const BoxTile tile(box_);
    const int skipped = Box::kPlaces - static_cast<int>(box_.match.max_patches);
#pragma unroll
    for (int r = 0; r < Box::kReferences; ++r) {
      __syncwarp();
      int count = 0;
#pragma unroll
      for (int i = 0; i < Box::kPlaces; ++i) {
        exchange[i * Box::kExchangeRow + lane] = stacks_[r].keys[i];
        count += i >= skipped && stacks_[r].keys[i] != Box::kNone ? 1 : 0;
      }
      const int x = at_[0] + r % Box::kX;
      const int y = at_[1] + r / Box::kX;
      if (tile.is_reference(x, y, lane)) box_.match.counts[tile.reference(x, y, lane)] = count;
      __syncwarp();
#pragma unroll 1
      for (int i = lane; i < 32 * Box::kPlaces; i += 32) {
        const int z = i / Box::kPlaces;
        const int place = i % Box::kPlaces - skipped;
        if (place < 0 || !tile.is_reference(x, y, z)) continue;
        tile.write(x, y, z, place, exchange[i % Box::kPlaces * Box::kExchangeRow + z]);
      }
    }
  }

 private:
  struct Row {
    const std::uint32_t* words;
    const std::int32_t* norms;
    std::uint32_t number;
  };
  /// Of candidates that stand alike to their references.
  struct Sums {
    std::uint32_t last[Box::kWindowX][Box::kY][4];  // columns: sums along y and z
    std::uint32_t products[Box::kWindowX][Box::kY];
  };

  template <int... kParts>
  __device__ __forceinline__ void look_at_part(const Row& row, Sums& sums, int part,
                                               std::integer_sequence<int, kParts...>) {
    const auto look = [&]<int kPart>() {
      if (part == kPart) {
        look_at_columns<3 + kPart * Box::kColumnsAtOnce>(row, sums,
                                                         std::make_integer_sequence<int, Box::kColumnsAtOnce>());
      }
    };
    (look.template operator()<kParts>(), ...);
  }
  template <int kFirst, int... kColumns>
  __device__ __forceinline__ void look_at_columns(const Row& row, Sums& sums, std::integer_sequence<int, kColumns...>) {
    constexpr int kAll = Box::kWindowX + Box::kX + 2;
    (look_at_column<(kFirst + kColumns < kAll ? kFirst + kColumns : -1)>(row, sums), ...);
  }
  template <int j>
  __device__ __forceinline__ void look_at_column(const Row& row, Sums& sums) {
    if constexpr (j >= 0) look_at_existing_column<j>(row, sums);
  }
  template <int j>
  __device__ __forceinline__ void look_at_existing_column(const Row& row, Sums& sums) {
    std::uint32_t there[Box::kY + 3];
#pragma unroll
    for (int k = 0; k < Box::kY + 3; ++k) there[k] = row.words[Box::word_at(j, k, 0)];
    std::int32_t norm[Box::kY] = {};
    if constexpr (j >= 3) {
#pragma unroll
      for (int k = 0; k < Box::kY; ++k) norm[k] = row.norms[Box::norm_at(j - 3, k, 0)];
    }
#pragma unroll
    for (int i = 0; i < Box::kX + 3; ++i) {
      const int x = j - i;
      if (x < 0 || x >= Box::kWindowX) continue;
      std::uint32_t column[Box::kY];
      sum_column(own_[i], there, column);
#pragma unroll
      for (int k = 0; k < Box::kY; ++k) {
        std::uint32_t(&last)[4] = sums.last[x][k];
        std::uint32_t& products = sums.products[x][k];
        if (i == 3) products = last[0] + last[1] + last[2] + column[k];
        if (i > 3) products += column[k] - last[i % 4];
        last[i % 4] = column[k];
        if (i >= 3) offer(k * Box::kX + i - 3, norm[k] - 2 * static_cast<std::int32_t>(products), row.number + x);
      }
    }
  }
  /// Sums of products along y and z, of the voxels from each of the references' rows on.
  static __device__ __forceinline__ void sum_column(const std::uint32_t (&own)[Box::kY + 3],
                                                    const std::uint32_t (&there)[Box::kY + 3],
                                                    std::uint32_t (&sums)[Box::kY]) {
    const std::uint32_t first = __dp4a(own[0], there[0], 0U);
    sums[0] = __dp4a(own[3], there[3], __dp4a(own[2], there[2], __dp4a(own[1], there[1], first)));
    sums[1] = __dp4a(own[4], there[4], sums[0]) - first;
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t norm(int r) const {
    return own_norms_[Box::norm_at(r % Box::kX, r / Box::kX, 0)];
  }
  /// `distance` is without the reference's norm.
  __device__ __forceinline__ void offer(int r, std::int32_t distance, std::uint32_t number) {
    if (distance < limit_[r]) {
      *reinterpret_cast<std::uint32_t*>(lists_ + end_[r] + r * Box::kListBytes) =
          static_cast<std::uint32_t>(distance) * box_.number_scale + number;
      end_[r] += Box::kSlotBytes;
    }
  }
  __device__ __forceinline__ void merge_list(int r) {
    const std::uint32_t scaled_norm = static_cast<std::uint32_t>(norm(r)) * box_.number_scale;
    std::uint32_t list[Box::kSlots];
#pragma unroll
    for (int i = 0; i < Box::kSlots; ++i) {
      const auto* const at = lists_ + i * Box::kSlotBytes + r * Box::kListBytes + threadIdx.x * 4;
      list[i] = end_[r] > static_cast<unsigned>(i + 1) * Box::kSlotBytes - 1
                    ? *reinterpret_cast<const std::uint32_t*>(at) + scaled_norm
                    : Box::kNone;
    }
    end_[r] = threadIdx.x * 4;
    sort_list(list, std::make_integer_sequence<int, kBoxNetwork.count>());
    stacks_[r].merge(list);
    const std::uint32_t last = stacks_[r].keys[Box::kPlaces - 1];
    if (last != Box::kNone) {
      limit_[r] = min(limit_[r], static_cast<std::int32_t>(last >> box_.match.number_bits) - norm(r));
    }
  }

  const PatchBoxArguments& box_;
  const std::uint32_t* words_;
  const std::int32_t* norms_;
  unsigned char* lists_;
  int at_[3];
  std::uint32_t own_[Box::kX + 3][Box::kY + 3];
  const std::int32_t* own_norms_;
  std::int32_t limit_[Box::kReferences];  ///< without the norm
  unsigned end_[Box::kReferences];        ///< of the list, in bytes
  BoxStack stacks_[Box::kReferences];
};

}  // namespace

}  // namespace tessera::cuda

extern "C" __global__ void __launch_bounds__(tessera::cuda::BoxBytes::kThreads, 1)
    tessera_patch_match_box_bytes(const __grid_constant__ tessera::cuda::PatchBoxArguments box) {
  extern __shared__ __align__(16) unsigned char shared[];
  tessera::cuda::load_box(box, shared);
  tessera::cuda::BoxThread thread(box, shared);
  std::uint32_t number = 0;
#pragma unroll 1
  for (int z = 0; z < box.match.window[2]; ++z) {
#pragma unroll 1
    for (int y = 0; y < box.match.window[1]; ++y, number += tessera::cuda::BoxBytes::kWindowX) {
      thread.look_at_row(y, z, number);
    }
  }
  thread.finish();
  __syncthreads();
  thread.write();
}
