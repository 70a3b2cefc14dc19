// The inner parts of "exact_bytes": products of bytes, and distances and weights from them, in the best instruction set
// that the processor has. Everything up to the weights is exact.
#pragma once

#include <cstdint>

namespace tessera::cpu_tbb {

/// What one call of multiply_bytes() holds in registers, and how numbers lie in the 32-bit words that it multiplies: 4
/// bytes in a word (AVX-512 with VNNI, AMX), 2 numbers of 16 bits (processors with vectors else), or 1.
struct ByteTile {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t numbers = 0;
  std::int64_t depth_step = 1;  ///< that the words of a row are a multiple of; those beyond its numbers are 0
};
[[nodiscard]] ByteTile byte_tile();

/// What training rows are stored less by: bytes of 4 in a word must be signed on one side.
[[nodiscard]] inline std::int64_t byte_shift(const ByteTile& tile) noexcept {
  return tile.numbers == 4 ? 128 : 0;
}

/// The word of so many numbers of a query, or of a training row less byte_shift().
[[nodiscard]] std::int32_t byte_word(const ByteTile& tile, const std::uint8_t* numbers, std::int64_t count,
                                     std::int64_t shift) noexcept;

/// Words of up to tile.rows queries times the slivers of training rows beside each other, into rows of C.
struct ByteProduct {
  const std::int32_t* a = nullptr;  ///< word (row, p) at a[row * a_step + p]
  std::int64_t a_step = 0;
  const std::int32_t* b = nullptr;  ///< sliver after sliver: word (p, column) at b[p * tile.columns + column]
  std::int32_t* c = nullptr;
  std::int64_t ldc = 0;
  std::int64_t rows = 0;     ///< 1 to the tile's rows
  std::int64_t columns = 0;  ///< a multiple of the tile's
  std::int64_t depth = 0;    ///< words of a row, a multiple of the tile's step
  std::int64_t numbers = 0;  ///< the tile's
};
void multiply_bytes(const ByteProduct& product);

/// The same where has_amx(), with the tile that it has there.
[[nodiscard]] ByteTile amx_byte_tile();
void multiply_bytes_by_amx(const ByteProduct& product);

/// squared[i] = query_length + lengths[i] - 2 * dots[i] in the place of the dots, and returns the least. `rows` is a
/// multiple of kFoldStep.
[[nodiscard]] std::int32_t fold_byte_distances(std::int32_t* dots, const std::int32_t* lengths,
                                               std::int32_t query_length, std::int64_t rows);

/// How distances become weights.
struct ByteWeights {
  bool is_euclidean = false;
  float factor = 0;  ///< of the exponent; finite
  std::int32_t least = 0;
  std::int32_t furthest = 0;  ///< what is further away weighs 0
};
/// weights[i] = the weight of squared[i], 0 beyond the furthest.
void fold_byte_weights(const ByteWeights& how, const std::int32_t* squared, std::int64_t rows, float* weights);

}  // namespace tessera::cpu_tbb
