// The inner part of "exact_bytes": products of bytes, in the best instruction set that the processor has. What becomes
// of them is in kernel_regression_bytes_fold.h.
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
  /// Words that are wanted next, which AMX brings nearer meanwhile: memory would be what it waits for.
  const std::int32_t* next = nullptr;
  std::int64_t next_words = 0;
};
void multiply_bytes(const ByteProduct& product);

/// The same where has_amx(), with the tile that it has there.
[[nodiscard]] ByteTile amx_byte_tile();
void multiply_bytes_by_amx(const ByteProduct& product);

}  // namespace tessera::cpu_tbb
