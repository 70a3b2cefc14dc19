// Products of bytes by AMX: a tile register holds 16 rows of 64 bytes, and one instruction adds to 16 x 16 sums the
// products of 16 queries and 16 training rows over 64 bytes. Two tiles of queries meet two of training rows, so that
// every tile that is loaded is used twice.
//
//                    training rows 0-15   16-31
//     queries  0-15      sums 0          sums 1      A tile of training rows is 16 words (p) of 16 rows, as slivers
//     queries 16-31      sums 2          sums 3      have them: unsigned times signed, as with VNNI.
#include "ops/kernel_regression/kernel_regression_bytes_kernel.h"

#include <algorithm>
#include <cstddef>

#include "cpu_tbb_tile_shapes.h"
#include "mathematics/division.h"

#ifdef TESSERA_HAS_AMX_CODE
#include <immintrin.h>
#define TESSERA_WITH_AMX __attribute__((target("amx-tile,amx-int8")))
#endif

namespace tessera::cpu_tbb {

#ifdef TESSERA_WITH_AMX

namespace {

constexpr std::int64_t kTileWords = kTileRowBytes / static_cast<std::int64_t>(sizeof(std::int32_t));

/// Registers 0 to 3 are sums, 4 and 5 queries, 6 and 7 training rows. Of the last queries there may be fewer than 16.
TileShapes shapes_of(std::int64_t rows) {
  const auto upper = static_cast<std::uint8_t>(std::min(rows, kTileRows));
  const auto lower = static_cast<std::uint8_t>(std::max<std::int64_t>(rows - kTileRows, 0));
  TileShapes shapes;
  const std::uint8_t rows_of[] = {upper, upper, lower, lower, upper, lower, kTileRows, kTileRows};
  for (int tile = 0; tile < kTileRegisters; ++tile) {
    shapes.rows[tile] = std::max<std::uint8_t>(rows_of[tile], 1);
    shapes.row_bytes[tile] = kTileRowBytes;
  }
  return shapes;
}

constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kSliver = 2 * kTileWords;
constexpr auto kSliverBytes = static_cast<std::size_t>(kSliver) * sizeof(std::int32_t);

/// Brings memory into the second-level cache, a part of it at each of a product's steps.
class Prefetcher {
 public:
  explicit Prefetcher(const ByteProduct& product)
      : at_(reinterpret_cast<const char*>(product.next)),
        end_(at_ + product.next_words * static_cast<std::int64_t>(sizeof(std::int32_t))) {
    const std::int64_t steps = product.columns / kSliver * (product.depth / kTileWords);
    lines_ = mathematics::ceil_div<std::int64_t>(end_ - at_, kLineBytes * steps);
  }
  void step() {
    for (std::int64_t line = 0; line < lines_ && at_ < end_; ++line, at_ += kLineBytes) _mm_prefetch(at_, _MM_HINT_T1);
  }

 private:
  const char* at_;
  const char* end_;
  std::int64_t lines_ = 0;
};

/// Brings the next step's training rows into the first-level cache: tiles are loaded faster from there, and nothing
/// else asks for them early enough.
void fetch_rows(const std::int32_t* rows) {
  const char* const first = reinterpret_cast<const char*>(rows);
#pragma GCC unroll 32
  for (std::int64_t at = 0; at < kTileWords * static_cast<std::int64_t>(kSliverBytes); at += kLineBytes) {
    _mm_prefetch(first + at, _MM_HINT_T0);
  }
}

TESSERA_WITH_AMX void multiply_32_queries(const ByteProduct& product) {
  Prefetcher next(product);
  const auto a_bytes = static_cast<std::size_t>(product.a_step) * sizeof(std::int32_t);
  const auto c_bytes = static_cast<std::size_t>(product.ldc) * sizeof(std::int32_t);
  const std::int32_t* b = product.b;
  for (std::int64_t column = 0; column < product.columns; column += kSliver) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::int64_t p = 0; p < product.depth; p += kTileWords, b += kTileWords * kSliver) {
      fetch_rows(b + kTileWords * kSliver);
      _tile_loadd(4, product.a + p, a_bytes);
      _tile_loadd(6, b, kSliverBytes);
      _tile_dpbusd(0, 4, 6);
      _tile_loadd(7, b + kTileWords, kSliverBytes);
      _tile_dpbusd(1, 4, 7);
      _tile_loadd(5, product.a + kTileRows * product.a_step + p, a_bytes);
      _tile_dpbusd(2, 5, 6);
      next.step();
      _tile_dpbusd(3, 5, 7);
    }
    std::int32_t* const c = product.c + column;
    _tile_stored(0, c, c_bytes);
    _tile_stored(1, c + kTileWords, c_bytes);
    _tile_stored(2, c + kTileRows * product.ldc, c_bytes);
    _tile_stored(3, c + kTileRows * product.ldc + kTileWords, c_bytes);
  }
}

TESSERA_WITH_AMX void multiply_16_queries(const ByteProduct& product) {
  Prefetcher next(product);
  const auto a_bytes = static_cast<std::size_t>(product.a_step) * sizeof(std::int32_t);
  const auto c_bytes = static_cast<std::size_t>(product.ldc) * sizeof(std::int32_t);
  const std::int32_t* b = product.b;
  for (std::int64_t column = 0; column < product.columns; column += kSliver) {
    _tile_zero(0);
    _tile_zero(1);
    for (std::int64_t p = 0; p < product.depth; p += kTileWords, b += kTileWords * kSliver) {
      _tile_loadd(4, product.a + p, a_bytes);
      _tile_loadd(6, b, kSliverBytes);
      _tile_dpbusd(0, 4, 6);
      next.step();
      _tile_loadd(7, b + kTileWords, kSliverBytes);
      _tile_dpbusd(1, 4, 7);
    }
    _tile_stored(0, product.c + column, c_bytes);
    _tile_stored(1, product.c + column + kTileWords, c_bytes);
  }
}

TESSERA_WITH_AMX void multiply(const ByteProduct& product) {
  const TileShapes shapes = shapes_of(product.rows);
  _tile_loadconfig(&shapes);
  if (product.rows > kTileRows) {
    multiply_32_queries(product);
  } else {
    multiply_16_queries(product);
  }
  _tile_release();  // whoever is scheduled next need not save tiles that nobody wants
}

}  // namespace

ByteTile amx_byte_tile() {
  return {.rows = 2 * kTileRows, .columns = kSliver, .numbers = 4, .depth_step = kTileWords};
}

void multiply_bytes_by_amx(const ByteProduct& product) {
  multiply(product);
}

#else

ByteTile amx_byte_tile() {
  return {};
}
void multiply_bytes_by_amx(const ByteProduct& /*product*/) {}

#endif

}  // namespace tessera::cpu_tbb
