// patch_match, packed_key, for bytes: |a - b|^2 = |a|^2 + |b|^2 - 2 a b, where dp4a adds four products at once.
//
//   words of a row            w0 | w1 | w2 | w3 | w4     Five words hold the bytes that 12 candidates next to each
//   candidate 0               [..]                       other have below one word of the reference: each is put
//   candidate 1                [..]                      together of two words by a shift, and multiplied. A patch of 4
//   reference's word          [rr]                       x 4 x 4 has 16 words, which stay in registers; words of others
//                                                        are read again.
//
// Before, the volume's rows are copied so that each begins at a whole word, and squares are added up: along x and y for
// each plane of voxels, and then along z. Keys have 32 bits where both halves fit into 31, else 64.
#include "ops/patch_match/patch_match_keys.cuh"

namespace tessera::cuda {

/// Four voxels a thread; behind the last row there are zeros.
__device__ __forceinline__ void copy_words(const PatchWordArguments& bytes) {
  const PatchArguments& match = bytes.match;
  const std::int64_t word = static_cast<std::int64_t>(blockIdx.x) * kPatchThreads + threadIdx.x;
  const std::int64_t rows = match.size[1] * match.size[2];
  if (word >= rows * bytes.row_words + kPatchWordsBehind) return;
  const std::int64_t row = word / bytes.row_words;
  const std::int64_t first = (word - row * bytes.row_words) * 4;
  const std::uint8_t* const from = PatchUint8::volume(match) + row * match.size[0] + first;
  std::uint32_t packed = 0;
  for (int i = 0; i < 4; ++i) {
    if (row < rows && first + i < match.size[0]) packed |= static_cast<std::uint32_t>(from[i]) << 8 * i;
  }
  bytes.words[word] = packed;
}

/// A thread a place along x and y of a plane of voxels.
__device__ __forceinline__ void add_up_planes(const PatchWordArguments& bytes) {
  const PatchArguments& match = bytes.match;
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * kPatchThreads + threadIdx.x;
  const std::int64_t line = number / match.places[0];
  const std::int64_t x = number - line * match.places[0];
  const std::int64_t plane = line / match.places[1];
  const std::int64_t y = line - plane * match.places[1];
  if (plane >= match.size[2]) return;
  const std::uint8_t* row = PatchUint8::volume(match) + (plane * match.size[1] + y) * match.size[0] + x;
  std::uint32_t sum = 0;
  for (std::int64_t j = 0; j < match.patch[1]; ++j, row += match.size[0]) {
    for (std::int64_t i = 0; i < match.patch[0]; ++i) sum += static_cast<std::uint32_t>(row[i]) * row[i];
  }
  bytes.plane_sums[number] = sum;
}

/// A thread a place.
__device__ __forceinline__ void add_up_norms(const PatchWordArguments& bytes) {
  const PatchArguments& match = bytes.match;
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * kPatchThreads + threadIdx.x;
  const std::int64_t plane = match.places[0] * match.places[1];
  const std::int64_t places = plane * match.places[2];
  if (number >= places + kPatchLanes) return;
  std::uint32_t sum = 0;
  for (std::int64_t k = 0; number < places && k < match.patch[2]; ++k) sum += bytes.plane_sums[number + k * plane];
  bytes.norms[number] = sum;
}

/// kPatch: 4 where the patch has 4 voxels along each axis, else 0.
template <int kPatch>
class WordFinder {
 public:
  __device__ WordFinder(const PatchWordArguments& bytes, const PatchWindow& window) : bytes_(bytes) {
    const PatchArguments& match = bytes.match;
    const std::int64_t row = window.reference / match.size[0];
    reference_ = bytes.words + row * bytes.row_words;
    reference_x_ = window.reference - row * match.size[0];
    const std::int64_t plane = row / match.size[1];
    norm_ = bytes.norms[(plane * match.places[1] + row - plane * match.size[1]) * match.places[0] + reference_x_];
    if constexpr (kPatch > 0) {
#pragma unroll
      for (int i = 0; i < kPatch * kPatch; ++i) {
        const std::int64_t in_patch = i / kPatch * match.size[1] + i % kPatch;
        kept_[i] = word_at(reference_ + in_patch * bytes.row_words, reference_x_);
      }
    }
  }

  __device__ __forceinline__ void find(std::int64_t x, std::int64_t y, std::int64_t z, int /*count*/,
                                       std::uint32_t /*limit*/, std::uint32_t (&found)[kPatchLanes]) const {
    const PatchArguments& match = bytes_.match;
    const std::uint32_t* candidates = bytes_.words + (z * match.size[1] + y) * bytes_.row_words + x / 4;
    const auto shift = static_cast<unsigned>(x % 4 * 8);
    const std::int64_t plane_words = match.size[1] * bytes_.row_words;
    std::uint32_t dots[kPatchLanes] = {};
    if constexpr (kPatch > 0) {
#pragma unroll
      for (int plane = 0; plane < kPatch; ++plane, candidates += plane_words) {
        const std::uint32_t* row = candidates;
#pragma unroll
        for (int i = 0; i < kPatch; ++i, row += bytes_.row_words) {
          add_word(kept_[plane * kPatch + i], row, shift, dots);
        }
      }
    } else {
      const std::uint32_t* reference = reference_;
#pragma unroll 1
      for (std::int64_t plane = 0; plane < match.patch[2]; ++plane) {
#pragma unroll 1
        for (std::int64_t row = 0; row < match.patch[1]; ++row) {
          add_row(reference + row * bytes_.row_words, candidates + row * bytes_.row_words, shift, dots);
        }
        reference += plane_words;
        candidates += plane_words;
      }
    }
    const std::uint32_t* const norms = bytes_.norms + (z * match.places[1] + y) * match.places[0] + x;
#pragma unroll
    for (int i = 0; i < kPatchLanes; ++i) found[i] = norm_ + norms[i] - 2 * dots[i];
  }

 private:
  /// The four bytes from x on.
  static __device__ __forceinline__ std::uint32_t word_at(const std::uint32_t* row, std::int64_t x) {
    return __funnelshift_r(row[x / 4], row[x / 4 + 1], static_cast<unsigned>(x % 4 * 8));
  }
  __device__ __forceinline__ void add_row(const std::uint32_t* reference, const std::uint32_t* candidates,
                                          unsigned shift, std::uint32_t (&dots)[kPatchLanes]) const {
    const std::int64_t length = bytes_.match.patch[0];
#pragma unroll 1
    for (std::int64_t x = 0; x < length; x += 4) {
      std::uint32_t word = word_at(reference, reference_x_ + x);
      if (length - x < 4) word &= (1U << (length - x) * 8) - 1;  // zeros meet what lies behind the patches
      add_word(word, candidates + x / 4, shift, dots);
    }
  }
  /// The products of a word of the reference with those of all candidates.
  static __device__ __forceinline__ void add_word(std::uint32_t word, const std::uint32_t* from, unsigned shift,
                                                  std::uint32_t (&dots)[kPatchLanes]) {
    constexpr int kWords = kPatchLanes / 4 + 1;
    std::uint32_t read[kWords + 1];
    std::uint32_t words[kWords];
#pragma unroll
    for (int i = 0; i <= kWords; ++i) read[i] = __ldg(from + i);
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = __funnelshift_r(read[i], read[i + 1], shift);
#pragma unroll
    for (int i = 0; i < kPatchLanes; ++i) {
      const std::uint32_t there =
          i % 4 == 0 ? words[i / 4] : __funnelshift_r(words[i / 4], words[i / 4 + 1], i % 4 * 8);
      dots[i] = __dp4a(word, there, dots[i]);
    }
  }

  const PatchWordArguments& bytes_;
  const std::uint32_t* reference_;  ///< its row of words
  std::int64_t reference_x_;
  std::uint32_t norm_;
  std::uint32_t kept_[kPatch > 0 ? kPatch* kPatch : 1];
};

template <class Key, int kPatch, int kPlaces>
__device__ __forceinline__ void match_words(const PatchWordArguments& bytes) {
  const std::int64_t reference = static_cast<std::int64_t>(blockIdx.x) * kPatchThreads + threadIdx.x;
  if (reference >= references_of(bytes.match)) return;
  const PatchWindow window(bytes.match, reference);
  match_by_keys<PatchUint8, Key, kPlaces>(bytes.match, window, reference, WordFinder<kPatch>(bytes, window));
}

}  // namespace tessera::cuda

#define TESSERA_PATCH_WORDS(name, call)                                                             \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kPatchThreads)                        \
      tessera_patch_match_##name(const __grid_constant__ tessera::cuda::PatchWordArguments bytes) { \
    call(bytes);                                                                                    \
  }
#define TESSERA_PATCH_WORDS_KEY(bits, patch, places)                \
  TESSERA_PATCH_WORDS(packed_key_words_##bits##_##patch##_##places, \
                      (tessera::cuda::match_words<std::uint##bits##_t, patch, places>))
#define TESSERA_PATCH_WORDS_KEYS(bits, patch) \
  TESSERA_PATCH_WORDS_KEY(bits, patch, 4)     \
  TESSERA_PATCH_WORDS_KEY(bits, patch, 16)    \
  TESSERA_PATCH_WORDS_KEY(bits, patch, 64)

TESSERA_PATCH_WORDS(words, tessera::cuda::copy_words)
TESSERA_PATCH_WORDS(plane_sums, tessera::cuda::add_up_planes)
TESSERA_PATCH_WORDS(norms, tessera::cuda::add_up_norms)
TESSERA_PATCH_WORDS_KEYS(32, 0)
TESSERA_PATCH_WORDS_KEYS(32, 4)
TESSERA_PATCH_WORDS_KEYS(64, 0)
TESSERA_PATCH_WORDS_KEYS(64, 4)
