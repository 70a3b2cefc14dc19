// gemm's register tile on the CPU, where it adds a bias, rectifies, and lets C pass by the caches: what cnn_layer asks
// of it for images with channels last. Layers so large that they ask for all of it are among no operator's cases.
#include <gtest/gtest.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "mathematics/division.h"
#include "ops/gemm/gemm_register_kernel.h"

namespace tessera::fault {
namespace {

using cpu_tbb::PanelProduct;

template <class T>
class PanelProductTest : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(PanelProductTest, Elements);

/// A panel of A, slivers of B behind each other, a bias, and a C whose rows begin at lines.
template <class T>
struct Panel {
  Panel(std::int64_t its_rows, std::int64_t its_columns, std::int64_t its_depth)
      : rows(its_rows), columns(its_columns), depth(its_depth), width(cpu_tbb::register_tile<T>().columns) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> numbers(-8, 8);  // so that all sums are exact
    const auto fill = [&](std::vector<T>& target, std::int64_t count) {
      target.resize(static_cast<std::size_t>(count));
      for (T& element : target) element = static_cast<T>(numbers(random));
    };
    fill(a, rows * cpu_tbb::kRegisterDepth<T>);
    fill(b, mathematics::round_up(columns, width) * depth);
    fill(bias, columns);
    constexpr std::int64_t kLine = 64 / sizeof(T);
    ldc = mathematics::round_up(columns, kLine) + kLine;
    memory.assign(static_cast<std::size_t>(rows * ldc + kLine), T(1000));
    c = memory.data();
    while (reinterpret_cast<std::uintptr_t>(c) % 64 != 0) ++c;
  }
  [[nodiscard]] PanelProduct<T> product() {
    PanelProduct<T> all;
    all.a = a.data();
    all.b = b.data();
    all.b_step = width;
    all.sliver_step = width * depth;
    all.c = c;
    all.ldc = ldc;
    all.rows = rows;
    all.columns = columns;
    all.depth = depth;
    all.alpha = T(1);
    return all;
  }
  [[nodiscard]] T sum(std::int64_t row, std::int64_t column) const {
    T found = 0;
    for (std::int64_t p = 0; p < depth; ++p) {
      found += a[static_cast<std::size_t>(row * cpu_tbb::kRegisterDepth<T> + p)] *
               b[static_cast<std::size_t>(column / width * width * depth + p * width + column % width)];
    }
    return found;
  }

  std::int64_t rows, columns, depth, width, ldc = 0;
  std::vector<T> a, b, bias, memory;
  T* c = nullptr;
};

/// With every instruction set with vectors that is compiled and that this processor has.
template <class Check>
void for_each_instruction_set(const Check& check) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t target : {std::int64_t{HWY_SSE4}, std::int64_t{HWY_AVX2}, std::int64_t{HWY_AVX3}}) {
    if ((supported & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
}

template <class T>
void check_panels() {
  const cpu_tbb::RegisterTile tile = cpu_tbb::register_tile<T>();
  // Rows of C that are streamed are whole lines; where a tile's are not, nobody asks for that.
  const bool can_stream = tile.columns * static_cast<std::int64_t>(sizeof(T)) % 64 == 0;
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{3}, tile.rows}) {
    for (const std::int64_t columns : {1, 5, 8, 9, 16, 17, 31, 32, 33, 64, 100}) {
      for (const std::int64_t depth : {1, 9, 30, 100}) {
        for (int kind = 0; kind < 8; ++kind) {
          const bool has_bias = kind % 2 != 0, rectifies = kind / 2 % 2 != 0, streams = kind / 4 != 0 && can_stream;
          Panel<T> panel(rows, columns, depth);
          PanelProduct<T> product = panel.product();
          product.bias = has_bias ? panel.bias.data() : nullptr;
          product.rectifies = rectifies;
          product.streams = streams;
          multiply_panel(product);
          hwy::FlushStream();
          for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < panel.ldc; ++j) {
              T expected = 1000;  // as it was
              if (j < columns) {
                expected = panel.sum(i, j) + (has_bias ? panel.bias[static_cast<std::size_t>(j)] : T(0));
                if (rectifies) expected = std::max(expected, T(0));
              }
              ASSERT_EQ(panel.c[i * panel.ldc + j], expected)
                  << rows << " x " << columns << " x " << depth << ", kind " << kind << ", " << i << " " << j;
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(PanelProductTest, adds_a_bias_rectifies_and_streams) {
  for_each_instruction_set(check_panels<TypeParam>);
}

TYPED_TEST(PanelProductTest, a_sum_that_is_no_number_stays_none) {
  using T = TypeParam;
  Panel<T> panel(2, 20, 4);
  panel.a[0] = std::numeric_limits<T>::quiet_NaN();
  PanelProduct<T> product = panel.product();
  product.bias = panel.bias.data();
  product.rectifies = true;
  multiply_panel(product);
  for (std::int64_t j = 0; j < 20; ++j) {
    EXPECT_TRUE(std::isnan(panel.c[j])) << j;
    EXPECT_GE(panel.c[panel.ldc + j], T(0)) << j;
  }
}

}  // namespace
}  // namespace tessera::fault
