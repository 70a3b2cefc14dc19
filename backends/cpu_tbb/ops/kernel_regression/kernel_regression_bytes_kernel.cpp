// Products of bytes, compiled once for every instruction set (Highway) and chosen when it runs. The tile is gemm's
// (gemm_register_kernel.cpp has the picture) with words of several numbers in the place of one:
//
//     instruction set      a word             one instruction a word and sum
//     AMX                  4 bytes            tiles of 16 x 16 sums: kernel_regression_bytes_amx.cpp
//     AVX-512 with VNNI    4 bytes            vpdpbusd: unsigned times signed, so training rows are stored less 128
//     AVX-512, AVX2, SSE4  2 numbers of 16    vpmaddwd, and an addition; vpmaddubsw would saturate
//     others               1 number of 32     a product and an addition
//
// AMX and VNNI are asked for when it runs (has_amx(), has_vnni()); the rest is Highway's choice.
#include "ops/kernel_regression/kernel_regression_bytes_kernel.h"

#include <utility>

#include "cpu_tbb_instruction_set.h"
#include "ops/kernel_regression/kernel_regression_fold.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/kernel_regression/kernel_regression_bytes_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace kernel_regression_bytes_kernel {

namespace hn = hwy::HWY_NAMESPACE;

// The numbers in a word, with VNNI and without.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int kMostNumbers = 4;
constexpr int kNumbers = 2;
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
constexpr int kMostNumbers = 2;
constexpr int kNumbers = 2;
#else
constexpr int kMostNumbers = 1;
constexpr int kNumbers = 1;
#endif

#if HWY_TARGET <= HWY_AVX3
constexpr int kMostRows = 14;
#elif HWY_TARGET <= HWY_AVX2
constexpr int kMostRows = 5;
#else
constexpr int kMostRows = 4;
#endif

using Words = hn::CappedTag<std::int32_t, static_cast<std::size_t>(kFoldStep / 2)>;
using V = hn::VFromD<Words>;

/// sum + the products of the so many numbers in two words, exact.
template <int kNumbersOfWord>
HWY_INLINE V add_products(V a, V b, V sum) {
  if constexpr (kNumbersOfWord == 1) {
    return hn::Add(sum, hn::Mul(a, b));
  } else {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    if constexpr (kNumbersOfWord == 4) {
      // Not through its intrinsic: for this instruction set Highway does not name avx512vnni to the compiler.
      asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
      return sum;
    }
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
    const hn::Repartition<std::int16_t, Words> pairs;
    V unused = hn::Zero(Words());
    return hn::ReorderWidenMulAccumulate(Words(), hn::BitCast(pairs, a), hn::BitCast(pairs, b), sum, unused);
#endif
  }
}

/// The sums of kRows rows, as a chain so that each is a variable of its own and stays in a register.
template <int kRows, int kNumbersOfWord>
struct ByteSums {
  HWY_INLINE void clear() {
    left = hn::Zero(Words());
    right = hn::Zero(Words());
    if constexpr (kRows > 1) rest.clear();
  }
  HWY_INLINE void add(const std::int32_t* HWY_RESTRICT a, std::int64_t a_step, V b0, V b1) {
    const V word = hn::Set(Words(), *a);
    left = add_products<kNumbersOfWord>(word, b0, left);
    right = add_products<kNumbersOfWord>(word, b1, right);
    if constexpr (kRows > 1) rest.add(a + a_step, a_step, b0, b1);
  }
  HWY_INLINE void store(std::int32_t* HWY_RESTRICT c, std::int64_t ldc) const {
    hn::StoreU(left, Words(), c);
    hn::StoreU(right, Words(), c + hn::Lanes(Words()));
    if constexpr (kRows > 1) rest.store(c + ldc, ldc);
  }

  V left;
  V right;
  ByteSums<kRows - 1, kNumbersOfWord> rest;
};
template <int kNumbersOfWord>
struct ByteSums<0, kNumbersOfWord> {};

template <int kRows, int kNumbersOfWord>
HWY_NOINLINE void multiply_rows(const ByteProduct& product) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Words()));
  const std::int32_t* HWY_RESTRICT b = product.b;
  for (std::int64_t column = 0; column < product.columns; column += 2 * lanes) {
    ByteSums<kRows, kNumbersOfWord> sums;
    sums.clear();
    for (std::int64_t p = 0; p < product.depth; ++p, b += 2 * lanes) {
      sums.add(product.a + p, product.a_step, hn::LoadU(Words(), b), hn::LoadU(Words(), b + lanes));
    }
    sums.store(product.c + column, product.ldc);
  }
}

template <int kNumbersOfWord, int... kRowsLessOne>
HWY_INLINE void multiply_any(const ByteProduct& product, std::integer_sequence<int, kRowsLessOne...>) {
  using Function = void (*)(const ByteProduct&);
  static constexpr Function kFunctions[] = {multiply_rows<kRowsLessOne + 1, kNumbersOfWord>...};
  kFunctions[product.rows - 1](product);
}

void multiply(const ByteProduct& product) {
  constexpr std::make_integer_sequence<int, kMostRows> kRows;
  if (product.numbers == kMostNumbers) {
    multiply_any<kMostNumbers>(product, kRows);
  } else {
    multiply_any<kNumbers>(product, kRows);
  }
}

ByteTile tile_of_bytes() {
  return {kMostRows, 2 * static_cast<std::int64_t>(hn::Lanes(Words())), has_vnni() ? kMostNumbers : kNumbers};
}

}  // namespace kernel_regression_bytes_kernel
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(tile_of_bytes);
HWY_EXPORT(multiply);

ByteTile byte_tile() {
  if (has_amx()) return amx_byte_tile();
  return HWY_DYNAMIC_DISPATCH(tile_of_bytes)();
}

std::int32_t byte_word(const ByteTile& tile, const std::uint8_t* numbers, std::int64_t count,
                       std::int64_t shift) noexcept {
  std::uint32_t word = 0;
  const auto bits = static_cast<unsigned>(32 / tile.numbers);
  const std::uint32_t mask = tile.numbers == 1 ? ~0U : (1U << bits) - 1;
  for (std::int64_t i = 0; i < count; ++i) {  // a count below 0 is none
    const auto number = static_cast<std::uint32_t>(static_cast<std::int32_t>(numbers[i] - shift)) & mask;
    word |= number << (static_cast<unsigned>(i) * bits);
  }
  return static_cast<std::int32_t>(word);
}

void multiply_bytes(const ByteProduct& product) {
  if (has_amx()) return multiply_bytes_by_amx(product);
  HWY_DYNAMIC_DISPATCH(multiply)(product);
}

}  // namespace tessera::cpu_tbb
#endif
