// Distances, lists and weights of bytes, compiled once for every instruction set (Highway) and chosen when it runs.
// Where orders are small many rows are near, in a set of ten clusters a tenth of all: so the near ones are brought
// together before anything is computed of them, and exponentials are taken of full vectors.
//
//     products of 16 rows   d d d d d d d d ...   compared with the furthest that counts   . x . . x x . . ...
//     list                  ... | d d d |         what counts moves together behind the list's end
#include "ops/kernel_regression/kernel_regression_bytes_fold.h"

#include <algorithm>
#include <limits>

#include "ops/kernel_regression/kernel_regression_fold.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/kernel_regression/kernel_regression_bytes_fold.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace kernel_regression_bytes_fold {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::int32_t, static_cast<std::size_t>(kByteListSlack)>;
using V = hn::VFromD<Words>;

HWY_INLINE std::int64_t lanes_of_words() {
  return static_cast<std::int64_t>(hn::Lanes(Words()));
}

/// Squared distances of the rows from i on.
HWY_INLINE V squared_at(const ByteRows& rows, V query_length, std::int64_t i) {
  const Words d;
  // The sum of two lengths may pass the largest number; the distance does not.
  const V sum = hn::Add(query_length, hn::LoadU(d, rows.lengths + i));
  return hn::Sub(sum, hn::ShiftLeft<1>(hn::LoadU(d, rows.dots + i)));
}

/// Calls use(distances, which of them exist, first row) for all rows: behind the last there is memory to read.
template <class Use>
HWY_INLINE void for_distances(const ByteRows& rows, const Use& use) {
  const Words d;
  const V length = hn::Set(d, rows.query_length);
  const auto all = hn::FirstN(d, hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes_of_words() <= rows.count; i += lanes_of_words()) use(squared_at(rows, length, i), all, i);
  if (i < rows.count) use(squared_at(rows, length, i), hn::FirstN(d, static_cast<std::size_t>(rows.count - i)), i);
}

std::int32_t least(const ByteRows& rows) {
  const Words d;
  const V most = hn::Set(d, std::numeric_limits<std::int32_t>::max());
  V least = most;
  for_distances(rows, [&](V squared, auto exists, std::int64_t) {
    least = hn::Min(least, hn::IfThenElse(exists, squared, most));
  });
  return hn::GetLane(hn::MinOfLanes(d, least));
}

std::int32_t list_near(const ByteRows& rows, std::int32_t furthest_number, ByteList& list) {
  const Words d;
  const V furthest = hn::Set(d, furthest_number);
  const V most = hn::Set(d, std::numeric_limits<std::int32_t>::max());
  const V step = hn::Set(d, static_cast<std::int32_t>(hn::Lanes(d)));
  V numbers = hn::Iota(d, rows.first);
  V least = most;
  for_distances(rows, [&](V squared, auto exists, std::int64_t) {
    least = hn::Min(least, hn::IfThenElse(exists, squared, most));
    const auto is_near = hn::AndNot(hn::Gt(squared, furthest), exists);
    const std::size_t count = hn::CompressStore(squared, is_near, d, list.squared + list.count);
    hn::CompressStore(numbers, is_near, d, list.rows + list.count);
    list.count += static_cast<std::int64_t>(count);
    numbers = hn::Add(numbers, step);
  });
  return hn::GetLane(hn::MinOfLanes(d, least));
}

void weigh(const ByteWeights& how, const ByteList& list, float* weights) {
  const Words d;
  const hn::RebindToFloat<Words> f;
  const V least = hn::Set(d, how.least);
  const V furthest = hn::Set(d, how.furthest);
  const auto least_root = hn::Sqrt(hn::ConvertTo(f, least));
  const auto minus_factor = hn::Set(f, -how.factor);
  const auto smallest = hn::Set(f, std::numeric_limits<float>::min());
  std::fill_n(list.squared + list.count, kByteListSlack, how.least);
  for (std::int64_t i = 0; i < list.count; i += lanes_of_words()) {
    const V squares = hn::LoadU(d, list.squared + i);
    const auto counts = hn::Not(hn::Gt(squares, furthest));
    // What does not count becomes 1, not a number below the normal ones, at which processors stop for a while.
    const V distance = hn::IfThenElse(counts, squares, least);
    auto above = hn::ConvertTo(f, hn::Sub(distance, least));
    if (how.is_euclidean) {
      const auto roots = hn::Add(hn::Sqrt(hn::ConvertTo(f, distance)), least_root);
      above = hn::Div(above, hn::Max(roots, smallest));
    }
    const auto weight = hn::Exp(f, hn::Mul(minus_factor, above));
    const auto is_normal = hn::And(hn::RebindMask(f, counts), hn::Ge(weight, smallest));
    hn::StoreU(hn::IfThenElseZero(is_normal, weight), f, weights + i);
  }
}

RegressionWeights sum_weights(const ByteList& list, const float* weights, const float* targets) {
  const hn::CappedTag<double, static_cast<std::size_t>(kByteListSlack / 2)> wide;
  const hn::Rebind<float, decltype(wide)> f;
  const hn::Rebind<std::int32_t, decltype(wide)> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  auto sum = hn::Zero(wide), squares = hn::Zero(wide), output = hn::Zero(wide);
  std::fill_n(list.rows + list.count, kByteListSlack, 0);
  for (std::int64_t i = 0; i < list.count; i += lanes) {
    const auto exists = hn::FirstN(f, static_cast<std::size_t>(std::min(list.count - i, lanes)));
    const auto narrow = hn::IfThenElseZero(exists, hn::LoadU(f, weights + i));
    // A target that is not finite stays out where its row weighs nothing.
    const auto target =
        hn::IfThenElseZero(hn::Ne(narrow, hn::Zero(f)), hn::GatherIndex(f, targets, hn::LoadU(d, list.rows + i)));
    const auto weight = hn::PromoteTo(wide, narrow);
    sum = hn::Add(sum, weight);
    squares = hn::MulAdd(weight, weight, squares);
    output = hn::MulAdd(weight, hn::PromoteTo(wide, target), output);
  }
  const auto total = [&](auto numbers) { return hn::GetLane(hn::SumOfLanes(wide, numbers)); };
  return {.sum = total(sum), .squares = total(squares), .output = total(output)};
}

}  // namespace kernel_regression_bytes_fold
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(least);
HWY_EXPORT(list_near);
HWY_EXPORT(weigh);
HWY_EXPORT(sum_weights);

std::int32_t least_of_bytes(const ByteRows& rows) {
  return HWY_DYNAMIC_DISPATCH(least)(rows);
}

std::int32_t list_near_bytes(const ByteRows& rows, std::int32_t furthest, ByteList& list) {
  return HWY_DYNAMIC_DISPATCH(list_near)(rows, furthest, list);
}

void weigh_bytes(const ByteWeights& how, const ByteList& list, float* weights) {
  HWY_DYNAMIC_DISPATCH(weigh)(how, list, weights);
}

RegressionWeights sum_byte_weights(const ByteList& list, const float* weights, const float* targets) {
  return HWY_DYNAMIC_DISPATCH(sum_weights)(list, weights, targets);
}

}  // namespace tessera::cpu_tbb
#endif
