// The probabilistic bounds of gemm tested themselves, without a device: honest float32 products hold them in any order
// of the sum, and products of numbers with 11 bits, as TF32 makes them, do not, though the worst case forgives them.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "conformance/gemm/gemm_reference.h"
#include "conformance/inputs.h"
#include "eleven_bits.h"

namespace tessera::conformance {
namespace {

constexpr std::int64_t kSide = 18;

/// Random matrices, their products and what the reference says of them.
class RandomGemm {
 public:
  RandomGemm(std::int64_t k, Values values) : k_(k), a_(kSide * k), b_(k * kSide) {
    fill_values(std::span<float>(a_), values, 1);
    fill_values(std::span<float>(b_), values, 2);
  }
  GemmInputs<float> inputs() const { return {{.m = kSide, .n = kSide, .k = k_}, 1, 0, a_, b_, {}}; }

  /// Each element of A and B changed by `round` before it is multiplied; `sums` partial sums are added up at the end.
  template <class Round>
  std::vector<float> product(Round round, std::size_t sums = 1) const {
    std::vector<float> c;
    for (std::int64_t row = 0; row < kSide; ++row) {
      for (std::int64_t column = 0; column < kSide; ++column) {
        std::vector<float> parts(sums, 0.0F);
        for (std::int64_t p = 0; p < k_; ++p) {
          parts[static_cast<std::size_t>(p) % sums] += round(a_[row * k_ + p]) * round(b_[p * kSide + column]);
        }
        float sum = 0;
        for (const float part : parts) sum += part;
        c.push_back(sum);
      }
    }
    return c;
  }
  std::string failure_of(const std::vector<float>& c, Draw draw, double error_factor = 1) const {
    Comparison comparison(DataType::float32);
    GemmReference<float>(inputs(), 4, draw).check(c, kSide, error_factor, std::nullopt, "", comparison);
    return comparison.outcome().failure;
  }

 private:
  std::int64_t k_;
  std::vector<float> a_;
  std::vector<float> b_;
};

TEST(GemmChanceTest, honest_products_hold_it) {
  for (const std::int64_t k : {1, 2, 7, 64, 500, 4096}) {
    for (const auto& [values, draw] :
         {std::pair{Values::symmetric, Draw::symmetric}, {Values::positive, Draw::one_sided}}) {
      const RandomGemm gemm(k, values);
      for (const std::size_t sums : {1, 4, 32}) {
        EXPECT_EQ(gemm.failure_of(gemm.product(as_it_is, sums), draw), "") << k << ", " << sums;
      }
    }
  }
}

TEST(GemmChanceTest, products_of_11_bits_are_found_where_the_worst_case_forgives_them) {
  const RandomGemm gemm(4096, Values::symmetric);
  const std::vector<float> c = gemm.product(rounded_to_11_bits);
  EXPECT_EQ(gemm.failure_of(c, Draw::chosen), "");
  EXPECT_NE(gemm.failure_of(c, Draw::symmetric).find("root mean square"), std::string::npos);
}

TEST(GemmChanceTest, a_factor_makes_room_for_them) {
  // Each product is off by 2^-10 at most, 2^14 units of roundoff.
  const RandomGemm gemm(4096, Values::symmetric);
  EXPECT_EQ(gemm.failure_of(gemm.product(rounded_to_11_bits), Draw::symmetric, 1 + 16384.0 / 4096), "");
}

TEST(GemmChanceTest, a_single_element_is_found) {
  const RandomGemm gemm(4096, Values::positive);
  std::vector<float> c = gemm.product(as_it_is);
  const ExpectedSum expected = gemm_element(gemm.inputs(), 3, 5);
  c[3 * kSide + 5] += static_cast<float>(0.5 * expected.bound);
  EXPECT_EQ(gemm.failure_of(c, Draw::chosen), "");
  EXPECT_NE(gemm.failure_of(c, Draw::one_sided).find("C(3, 5)"), std::string::npos);
}

}  // namespace
}  // namespace tessera::conformance
