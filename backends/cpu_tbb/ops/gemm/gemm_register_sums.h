// The sums of the register tile (gemm_register_kernel.cpp), and how they are written to C. Included once for every
// instruction set (Highway):
//
//                 first     last
//               +--------+--------+      A row of a tile is two vectors of sums, or the last alone. At C's right edge
//        row 0  | x x x x| x x x  |      the last is read and written in part, where the processor can, and half of it
//        row 1  | x x x x| x x x  |      is not computed where it is not needed.
#include "ops/gemm/gemm_register_kernel.h"

#include <cstdint>

#if defined(TESSERA_GEMM_REGISTER_SUMS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_GEMM_REGISTER_SUMS_H
#undef TESSERA_GEMM_REGISTER_SUMS_H
#else
#define TESSERA_GEMM_REGISTER_SUMS_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_register_sums {

namespace hn = hwy::HWY_NAMESPACE;

/// May vectors be read and written in part? With AVX2 it can be done, but costs some processors tens of cycles.
constexpr bool kMasks = HWY_TARGET <= HWY_AVX3;

template <class T>
using Vector = hn::ScalableTag<T>;

/// How much of a tile's last vector of columns there is.
enum class LastVector {
  whole,    ///< all, and it is read and written so
  in_part,  ///< some
  half      ///< at most half, and half a vector is computed: a Zen 4 core takes half the time for it
};

template <class T, LastVector kLast>
struct LastTag {
  using Type = Vector<T>;
};
#if HWY_TARGET <= HWY_AVX3
template <class T>
struct LastTag<T, LastVector::half> {
  using Type = hn::Half<Vector<T>>;
};
#endif

/// The sums of kRows rows, as a chain so that each is a variable of its own and stays in a register.
template <class T, int kRows, int kWidth, LastVector kLast>
struct Sums {
  using D = Vector<T>;
  using DLast = typename LastTag<T, kLast>::Type;
  using V = hn::VFromD<D>;
  using VLast = hn::VFromD<DLast>;

  HWY_INLINE void clear() {
    if constexpr (kWidth == 2) first = hn::Zero(D());
    last = hn::Zero(DLast());
    if constexpr (kRows > 1) rest.clear();
  }
  /// `a` points to the row's element p, and the next row's is `row_step` further on.
  template <class Step>
  HWY_INLINE void add(const T* HWY_RESTRICT a, Step row_step, V b_first, VLast b_last) {
    if constexpr (kWidth == 1) {
      last = hn::MulAdd(hn::Set(DLast(), *a), b_last, last);
    } else {
      const V factor = hn::Set(D(), *a);
      first = hn::MulAdd(factor, b_first, first);
      last = hn::MulAdd(low_part(factor), b_last, last);
    }
    if constexpr (kRows > 1) rest.add(a + row_step, row_step, b_first, b_last);
  }
  /// Replaces each vector of columns by first_done(vector) or last_done(vector).
  template <class First, class Last>
  HWY_INLINE void finish(const First& first_done, const Last& last_done) {
    if constexpr (kWidth == 2) first = first_done(first);
    last = last_done(last);
    if constexpr (kRows > 1) rest.finish(first_done, last_done);
  }
  template <class Writer>
  HWY_INLINE void write(T* HWY_RESTRICT c, std::int64_t ldc, const Writer& writer) const {
    if constexpr (kWidth == 2) writer.write(first, c);
    writer.write_last(last, c + (kWidth - 1) * hn::Lanes(D()));
    if constexpr (kRows > 1) rest.write(c + ldc, ldc, writer);
  }

  static HWY_INLINE VLast low_part(V factor) {
    if constexpr (kLast == LastVector::half) {
      return hn::LowerHalf(DLast(), factor);
    } else {
      return factor;
    }
  }

  V first;  // only of two
  VLast last;
  Sums<T, kRows - 1, kWidth, kLast> rest;
};
template <class T, int kWidth, LastVector kLast>
struct Sums<T, 0, kWidth, kLast> {};

/// What a tile does with what stands in C.
enum class Former {
  unread,    ///< beta is 0
  streamed,  ///< the same, and C passes by the caches
  scaled     ///< times beta, which for 1 changes no bit
};

/// Writes vectors of sums, times alpha, to C, of the last one `shown`.
template <class T, Former kFormer, LastVector kLast>
class Writer {
  using D = Vector<T>;
  using DLast = typename LastTag<T, kLast>::Type;
  using M = decltype(hn::FirstN(DLast(), 0));  // hn::MFromD is wrong without vectors

 public:
  HWY_INLINE Writer(T alpha, T beta, M shown) : alpha_(alpha), beta_(beta), shown_(shown) {}
  HWY_INLINE void write(hn::VFromD<D> sums, T* HWY_RESTRICT c) const {
    const D d;
    if constexpr (kFormer == Former::streamed) return hn::Stream(alone(d, sums), d, c);
    hn::StoreU(kFormer == Former::unread ? alone(d, sums) : with(d, hn::LoadU(d, c), sums), d, c);
  }
  HWY_INLINE void write_last(hn::VFromD<DLast> sums, T* HWY_RESTRICT c) const {
    const DLast d;
    if constexpr (kLast == LastVector::whole) {
      write(sums, c);
    } else if constexpr (kFormer == Former::unread) {
      hn::BlendedStore(alone(d, sums), shown_, d, c);
    } else {
      hn::BlendedStore(with(d, hn::MaskedLoad(shown_, d, c), sums), shown_, d, c);
    }
  }

 private:
  template <class Tag, class Sum>
  HWY_INLINE Sum alone(Tag d, Sum sums) const {
    return hn::Mul(hn::Set(d, alpha_), sums);
  }
  template <class Tag, class Sum>
  HWY_INLINE Sum with(Tag d, Sum former, Sum sums) const {
    return hn::MulAdd(hn::Set(d, alpha_), sums, hn::Mul(hn::Set(d, beta_), former));
  }

  T alpha_;
  T beta_;
  M shown_;
};

}  // namespace gemm_register_sums
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
