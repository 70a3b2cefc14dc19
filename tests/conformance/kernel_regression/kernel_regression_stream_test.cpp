// Training sets and queries of kernel_regression that pass a limit of memory, on every device: the bits are those of
// one piece, the limit is kept to, copies go beside computation, and what ends a stream leaves no damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "each_device.h"
#include "kernel_regression/host_regression.h"
#include "stream_limits.h"

namespace tessera::testing_support {
namespace {

constexpr std::int64_t kUnit = KernelRegression::kSlabRows;

class RegressionStreamTest : public EachDevice {
 protected:
  void SetUp() override {
    if (explain(KernelRegression{.training_rows = 4, .columns = 3, .queries = 2}, device()).empty())
      GTEST_SKIP() << GetParam() << " offers no variant of kernel_regression";
  }
  /// Those that go on from one slab to the next.
  [[nodiscard]] std::vector<std::string> variants(KernelRegression problem) const {
    problem.is_slab = true;
    std::vector<std::string> names;
    for (const VariantReport& report : explain(problem, device())) {
      if (report.can_run) names.push_back(report.variant);
    }
    return names;
  }
  /// In one piece and with ever less memory. Returns how many slabs there were.
  template <class T>
  std::set<std::size_t> expect_same_bits(const KernelRegression& problem) {
    HostRegression<T> host(problem);
    std::set<std::size_t> slabs;
    for (const std::string& variant : variants(host.problem)) {
      SCOPED_TRACE(variant + " in " + std::string(to_string(data_type_of<T>)));
      const std::string expected = host.bits_in_one_piece(device(), {.variant = variant});
      StreamReport report;
      EXPECT_TRUE(host.streamed_bits(device(), {.kernel = {.variant = variant}}, report) == expected);
      EXPECT_EQ(report.slabs.size(), 1U) << "it fits";
      EXPECT_EQ(report.kernel.variant, variant);
      slabs.merge(slabs_of_smaller_limits(report.memory_bytes, [&](std::uint64_t limit) {
        const std::string bits =
            host.streamed_bits(device(), {.kernel = {.variant = variant}, .memory_bytes = limit}, report);
        EXPECT_TRUE(bits == expected) << report.slabs.size() << " slabs";
        return report;
      }));
    }
    return slabs;
  }
};
TESSERA_ON_EACH_DEVICE(RegressionStreamTest);

/// Up to six slabs, and a short one more with `rest`; weights of many rows.
KernelRegression many_rows(std::int64_t rest = 517) {
  return {.training_rows = 6 * kUnit + rest, .columns = 13, .queries = 37, .outputs = 2, .order = 1};
}

TEST_P(RegressionStreamTest, slabs_of_floats_give_the_bits_of_one_piece) {
  std::set<std::size_t> slabs = expect_same_bits<float>(many_rows());
  KernelRegression problem = many_rows(0);
  problem.distance = Distance::euclidean;
  problem.order = 3;
  slabs.merge(expect_same_bits<double>(problem));
  if (slabs.empty()) GTEST_SKIP() << GetParam() << " has no variant of floats that goes on from slab to slab";
  for (const std::size_t wanted : {2U, 3U, 7U}) EXPECT_EQ(slabs.count(wanted), 1U) << "never cut into " << wanted;
}

TEST_P(RegressionStreamTest, slabs_of_bytes_give_the_bits_of_one_piece) {
  KernelRegression problem = many_rows();
  problem.scale = 1.0 / 255;
  std::set<std::size_t> slabs = expect_same_bits<std::uint8_t>(problem);
  problem.training_rows = 6 * kUnit;
  problem.distance = Distance::euclidean;
  slabs.merge(expect_same_bits<std::uint8_t>(problem));
  if (slabs.empty()) GTEST_SKIP() << GetParam() << " has no variant of bytes that goes on from slab to slab";
  for (const std::size_t wanted : {2U, 3U, 7U}) EXPECT_EQ(slabs.count(wanted), 1U) << "never cut into " << wanted;
}

TEST_P(RegressionStreamTest, batches_of_queries_give_the_bits_of_one_piece) {
  // Four batches; then each of them in four slabs.
  std::set<std::size_t> slabs =
      expect_same_bits<float>({.training_rows = 300, .columns = 5, .queries = 3 * 2048 + 100, .order = 8});
  slabs.merge(expect_same_bits<std::uint8_t>(
      {.training_rows = 3 * kUnit + 7, .columns = 100, .queries = 3 * 2048 + 9, .order = 60, .scale = 1.0 / 255}));
  if (slabs.empty()) GTEST_SKIP() << GetParam() << " has no variant that goes on from slab to slab";
  EXPECT_EQ(slabs.count(4), 1U) << "never four batches";
  EXPECT_EQ(slabs.count(16), 1U) << "never four batches in four slabs";
}

TEST_P(RegressionStreamTest, what_nobody_is_near_to_has_no_result_in_slabs_either) {
  HostRegression<float> host({.training_rows = 4 * kUnit, .columns = 2, .queries = 3});
  const std::vector<std::string> all = variants(host.problem);
  if (all.empty()) GTEST_SKIP() << GetParam() << " has no variant that goes on from slab to slab";
  // Of the first slab no row has a part, and none has one in the eyes of the first query.
  std::fill_n(host.training.begin(), kUnit * 2, std::numeric_limits<float>::infinity());
  host.queries[0] = std::numeric_limits<float>::quiet_NaN();
  for (const std::string& variant : all) {
    SCOPED_TRACE(variant);
    const std::string expected = host.bits_in_one_piece(device(), {.variant = variant});
    StreamReport report;
    StreamOptions options{.kernel = {.variant = variant}};
    const std::string whole = host.streamed_bits(device(), options, report);
    EXPECT_TRUE(whole == expected);
    options.memory_bytes = report.memory_bytes - 1;
    EXPECT_TRUE(host.streamed_bits(device(), options, report) == expected);
    EXPECT_GE(report.slabs.size(), 2U);
    EXPECT_EQ(host.nearest_row[0], -1);
    EXPECT_GE(host.nearest_row[1], kUnit);
  }
}

TEST_P(RegressionStreamTest, a_default_that_takes_one_piece_gives_way_to_one_that_goes_on) {
  // Of few queries and many rows some device's default keeps all distances.
  for (const std::int64_t queries : {1, 3, 37}) {
    HostRegression<float> host({.training_rows = 16 * kUnit, .columns = 16, .queries = queries});
    if (variants(host.problem).empty()) GTEST_SKIP() << GetParam() << " has no variant that goes on from slab to slab";
    StreamReport report;
    EXPECT_TRUE(host.streamed_bits(device(), {}, report) == host.bits_in_one_piece(device()));
    const StreamReport whole = report;
    const std::uint64_t limit = whole.memory_bytes / 2;
    const std::string cut = host.streamed_bits(device(), {.memory_bytes = limit}, report);
    EXPECT_TRUE(cut == host.bits_in_one_piece(device(), {.variant = report.kernel.variant})) << report.kernel.variant;
    if (report.kernel.variant == whole.kernel.variant) {
      EXPECT_GE(report.slabs.size(), 2U);
      continue;
    }
    const StreamOptions named{.kernel = {.variant = whole.kernel.variant}, .memory_bytes = limit};
    const Refusal refusal = refusal_of([&] { static_cast<void>(host.streamed_bits(device(), named, report)); });
    EXPECT_EQ(refusal.code, ErrorCode::unsupported) << "a variant that the program names does not give way";
  }
}

TEST_P(RegressionStreamTest, what_keeps_all_distances_takes_one_piece) {
  HostRegression<float> host({.training_rows = 3 * kUnit, .columns = 2, .queries = 3});
  StreamReport report;
  const std::string expected = host.bits_in_one_piece(device(), {.variant = "naive"});
  EXPECT_TRUE(host.streamed_bits(device(), {.kernel = {.variant = "naive"}}, report) == expected);
  const std::uint64_t less = report.memory_bytes - 1;
  const Refusal refusal = refusal_of([&] {
    static_cast<void>(host.streamed_bits(device(), {.kernel = {.variant = "naive"}, .memory_bytes = less}, report));
  });
  EXPECT_EQ(refusal.code, ErrorCode::unsupported) << refusal.what;
  EXPECT_TRUE(contains(refusal.sentence, "a slab of its training set"));
}

TEST_P(RegressionStreamTest, the_limit_holds_for_what_the_device_sees) {
  const Device device = fresh_device();
  HostRegression<float> host(many_rows());
  if (variants(host.problem).empty()) GTEST_SKIP() << GetParam() << " has no variant that goes on from slab to slab";
  StreamOptions options{.kernel = {.variant = variants(host.problem).front()}};
  StreamReport report;
  static_cast<void>(host.streamed_bits(device, options, report));
  EXPECT_LE(device.memory().peak_bytes, report.memory_bytes);
  const Device other = fresh_device();
  const std::uint64_t limit = report.memory_bytes / 2;
  options.memory_bytes = limit;
  static_cast<void>(host.streamed_bits(other, options, report));
  EXPECT_LE(other.memory().peak_bytes, limit);
  EXPECT_GT(other.memory().peak_bytes, limit / 4) << "what is there is made use of";
  EXPECT_EQ(other.memory().in_use_bytes, 0U);
}

TEST_P(RegressionStreamTest, copies_go_beside_computation) {
  // Computing takes far longer than copying. Where something else has the processors, a copy may come late, between two
  // runs: a longer training set has more of them.
  StreamReport report;
  for (const std::int64_t units : {8, 16, 32}) {
    HostRegression<float> host({.training_rows = units * kUnit, .columns = 128, .queries = 400, .order = 1});
    if (variants(host.problem).empty()) GTEST_SKIP() << GetParam() << " has no variant that goes on from slab to slab";
    static_cast<void>(host.streamed_bits(device(), {.memory_bytes = 24 << 20}, report));
    ASSERT_GE(report.slabs.size(), 3U);
    expect_slabs_in_order(report);
    if (has_overlap(report)) return;
  }
  ADD_FAILURE() << "no copy beside a run:\n" << times_of(report);
}

TEST_P(RegressionStreamTest, what_the_program_throws_ends_the_stream) {
  const Device device = fresh_device();
  HostRegression<float> host(many_rows());
  if (variants(host.problem).empty()) GTEST_SKIP() << GetParam() << " has no variant that goes on from slab to slab";
  StreamOptions options{.kernel = {.variant = variants(host.problem).front()}};
  const std::string expected = host.bits_in_one_piece(device, options.kernel);
  StreamReport report;
  static_cast<void>(host.streamed_bits(device, options, report));
  options.memory_bytes = report.memory_bytes / 2;
  std::vector<std::int64_t> told;
  options.progress = [&](const StreamProgress& progress) {
    told.push_back(progress.done);
    if (progress.done == 2) throw std::range_error("enough");
  };
  EXPECT_THROW(static_cast<void>(host.streamed_bits(device, options, report)), std::range_error);
  EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(device.memory().in_use_bytes, 0U);
  options.progress = [&](const StreamProgress& progress) { told.push_back(progress.slabs); };
  EXPECT_TRUE(host.streamed_bits(device, options, report) == expected) << "after a stream that was ended";
  EXPECT_EQ(told.size(), 2 + report.slabs.size());
  EXPECT_EQ(told.back(), static_cast<std::int64_t>(report.slabs.size()));
}

}  // namespace
}  // namespace tessera::testing_support
