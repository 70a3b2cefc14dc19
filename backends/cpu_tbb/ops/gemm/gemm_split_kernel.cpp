// Products of float32 by AMX: x = x1 + x2 + x3 in bfloat16 is exact (gemm_split_pack.cpp), and six of the nine products
// of parts are added up in tile registers of float32. One instruction adds to 16 x 16 sums the products of 16 rows and
// 16 columns over 32 of k.
//
//                     columns 0-15   16-31       Six times 2 x 2 instructions for 32 of k. An operand's parts are
//     rows  0-15         sums 0      sums 1      loaded in such an order that one of the two stays: 14 loads for 24
//     rows 16-31         sums 2      sums 3      instructions, of which each takes 16 clocks and a load 8 beside it.
//
// A tile's sums of one step of k begin at 0 and are added to the others in float32: added up in tile registers over all
// of k, sums of positive numbers were further off than those of "register"; so they are nearer. The addition is spread
// over the next tile's steps, because a tile register's way through memory takes long.
#include "ops/gemm/gemm_split_kernel.h"

#include "cpu_tbb_tile_shapes.h"

#ifdef TESSERA_HAS_AMX_CODE
#include <immintrin.h>
#define TESSERA_WITH_AVX512 __attribute__((target("avx512f,avx512bw")))
#define TESSERA_WITH_AMX __attribute__((target("amx-tile,amx-bf16")))
#define TESSERA_WITH_BOTH __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw")))
#endif

namespace tessera::cpu_tbb {

#ifdef TESSERA_HAS_AMX_CODE

// GCC 12 takes what its own header leaves undefined on purpose for a mistake of the caller's (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace {

constexpr std::int64_t kLanes = 16;

// The intrinsics take a register's number as it is written.
#define TESSERA_LOAD(number, address) _tile_loadd(number, address, kTileRowBytes)
#define TESSERA_ADD(sums, a, b) _tile_dpbf16ps(sums, a, b)

/// Adds the six products of one step: registers 4 and 5 hold rows, 6 and 7 columns.
TESSERA_WITH_AMX inline __attribute__((always_inline)) void multiply_step(const std::byte* a, const std::byte* b) {
  const std::byte* const a2 = a + kSplitPartBytes;
  const std::byte* const a3 = a2 + kSplitPartBytes;
  const std::byte* const b2 = b + kSplitPartBytes;
  const std::byte* const b3 = b2 + kSplitPartBytes;
  TESSERA_LOAD(4, a);
  TESSERA_LOAD(6, b3);
  TESSERA_ADD(0, 4, 6);
  TESSERA_LOAD(5, a + kTileBytes);
  TESSERA_ADD(2, 5, 6);
  TESSERA_LOAD(7, b3 + kTileBytes);
  TESSERA_ADD(1, 4, 7);
  TESSERA_ADD(3, 5, 7);
  TESSERA_LOAD(6, b2);
  TESSERA_ADD(0, 4, 6);
  TESSERA_ADD(2, 5, 6);
  TESSERA_LOAD(7, b2 + kTileBytes);
  TESSERA_ADD(1, 4, 7);
  TESSERA_ADD(3, 5, 7);
  TESSERA_LOAD(4, a2);
  TESSERA_ADD(0, 4, 6);
  TESSERA_ADD(1, 4, 7);
  TESSERA_LOAD(5, a2 + kTileBytes);
  TESSERA_ADD(2, 5, 6);
  TESSERA_ADD(3, 5, 7);
  TESSERA_LOAD(6, b);
  TESSERA_ADD(0, 4, 6);
  TESSERA_ADD(2, 5, 6);
  TESSERA_LOAD(7, b + kTileBytes);
  TESSERA_ADD(1, 4, 7);
  TESSERA_ADD(3, 5, 7);
  TESSERA_LOAD(4, a3);
  TESSERA_ADD(0, 4, 6);
  TESSERA_ADD(1, 4, 7);
  TESSERA_LOAD(5, a3 + kTileBytes);
  TESSERA_ADD(2, 5, 6);
  TESSERA_ADD(3, 5, 7);
  TESSERA_LOAD(4, a);
  TESSERA_ADD(0, 4, 6);
  TESSERA_ADD(1, 4, 7);
  TESSERA_LOAD(5, a + kTileBytes);
  TESSERA_ADD(2, 5, 6);
  TESSERA_ADD(3, 5, 7);
}

/// A tile's sums of one product that are still to be added to the others, in as many portions as a product has steps:
/// between instructions for tiles they cost little.
struct FreshSums {
  const float* fresh = nullptr;
  float* sums = nullptr;  ///< null: nothing to add
  bool is_first = false;  ///< there are no others yet
};
TESSERA_WITH_AVX512 inline __attribute__((always_inline)) void add_portion(const FreshSums& of, std::int64_t step,
                                                                           std::int64_t steps) {
  if (of.sums == nullptr) return;
  constexpr std::int64_t kVectors = kSplitTile * kSplitTile / kLanes;
  const std::int64_t end = (step + 1) * kVectors / steps * kLanes;
  for (std::int64_t i = step * kVectors / steps * kLanes; i < end; i += kLanes) {
    const __m512 fresh = _mm512_load_ps(of.fresh + i);
    _mm512_store_ps(of.sums + i, of.is_first ? fresh : _mm512_add_ps(_mm512_load_ps(of.sums + i), fresh));
  }
}

TESSERA_WITH_BOTH void multiply(const SplitProduct& product) {
  TileShapes shapes;
  for (int tile = 0; tile < kTileRegisters; ++tile) {
    shapes.rows[tile] = kTileRows;
    shapes.row_bytes[tile] = kTileRowBytes;
  }
  _tile_loadconfig(&shapes);
  constexpr std::int64_t kRowBytes = kSplitTile * static_cast<std::int64_t>(sizeof(float));
  const std::byte* b = product.slivers;
  Prefetch next = product.next;
  next.spread(product.sliver_count * product.steps);
  alignas(64) float fresh[2][kSplitTile * kSplitTile];
  FreshSums before;
  for (std::int64_t sliver = 0; sliver < product.sliver_count; ++sliver) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    const std::byte* a = product.panel;
    for (std::int64_t step = 0; step < product.steps; ++step, a += kSplitStepBytes, b += kSplitStepBytes) {
      next.advance();
      multiply_step(a, b);
      add_portion(before, step, product.steps);
    }
    float* const above = fresh[sliver % 2];
    float* const below = above + kTileRows * kSplitTile;
    _tile_stored(0, above, kRowBytes);
    _tile_stored(1, above + kLanes, kRowBytes);
    _tile_stored(2, below, kRowBytes);
    _tile_stored(3, below + kLanes, kRowBytes);
    before = {above, product.sums + sliver * kSplitTile * kSplitTile, product.is_first};
  }
  add_portion(before, 0, 1);
  _tile_release();  // whoever is scheduled next need not save tiles that nobody wants
}

}  // namespace

void multiply_split(const SplitProduct& product) {
  multiply(product);
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#else

// Never called: has_amx_bfloat16() is false.
void multiply_split(const SplitProduct& /*product*/) {}

#endif

}  // namespace tessera::cpu_tbb
