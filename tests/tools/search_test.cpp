// The search's order, with times that a test makes up: which candidates are tried, and which are not.
#include "tools/tune/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/tune/duel.h"

namespace tessera::tool {
namespace {

const std::vector<Tunable> kTileAndSplit{{"tile", "side of the tile", {4, 8, 16}, 8},
                                         {"split", "parts of k", {1, 2, 4}, 1}};

class SearchTest : public testing::Test {
 protected:
  /// Seconds of a candidate; below 0 it is wrong.
  using Times = std::function<double(const Candidate&)>;

  SearchResult run(const SearchSpace& space, const Times& times, std::size_t most = 1000) {
    tried_.clear();
    const auto attempt = [&](const Candidate& candidate) {
      tried_.push_back(to_string(candidate));
      const double seconds = times(candidate);
      Trial trial;
      trial.candidate = candidate;
      trial.status = seconds < 0 ? TrialStatus::wrong : TrialStatus::right;
      trial.seconds = std::max(seconds, 0.0);
      return trial;
    };
    return search(space, attempt, [&] { return tried_.size() < most; });
  }
  [[nodiscard]] bool was_tried(const std::string& name) const {
    return std::find(tried_.begin(), tried_.end(), name) != tried_.end();
  }

  std::vector<std::string> tried_;
};

double bowl(const Candidate& candidate) {
  if (candidate.variant != "tiled") return 5;
  const auto tile = static_cast<double>(candidate.tuning.at("tile"));
  const auto split = static_cast<double>(candidate.tuning.at("split"));
  return 1 + (16 - tile) / 10 + (4 - split) / 10;
}

TEST_F(SearchTest, begins_with_the_default_and_ends_at_the_fastest) {
  const SearchSpace space{{{"naive", {}}, {"tiled", kTileAndSplit}}, "tiled"};
  const SearchResult result = run(space, bowl);
  EXPECT_TRUE(result.is_complete);
  EXPECT_EQ(tried_.at(0), "tiled split=1 tile=8");
  EXPECT_EQ(tried_.at(1), "naive");
  ASSERT_FALSE(fastest(result, 1).empty());
  EXPECT_EQ(to_string(fastest(result, 1)[0]->candidate), "tiled split=4 tile=16");
  std::vector<std::string> once = tried_;
  std::sort(once.begin(), once.end());
  EXPECT_EQ(std::unique(once.begin(), once.end()), once.end()) << "no candidate is tried twice";
  EXPECT_EQ(fastest(result, 2).size(), 2U);
}

TEST_F(SearchTest, ends_when_it_may_not_go_on) {
  const SearchResult result = run({{{"tiled", kTileAndSplit}}, "tiled"}, bowl, 3);
  EXPECT_FALSE(result.is_complete);
  EXPECT_EQ(result.trials.size(), 3U);
}

TEST_F(SearchTest, leaves_alone_what_is_hopeless) {
  const SearchSpace space{{{"tiled", kTileAndSplit}, {"slow", kTileAndSplit}}, "tiled"};
  const SearchResult result = run(space, [](const Candidate& c) { return c.variant == "slow" ? 100.0 : bowl(c); });
  EXPECT_TRUE(result.is_complete);
  EXPECT_TRUE(was_tried("slow split=1 tile=8"));
  EXPECT_EQ(std::count_if(tried_.begin(), tried_.end(), [](const auto& name) { return name.starts_with("slow"); }), 1);
}

TEST_F(SearchTest, looks_for_a_right_value_where_the_preferred_one_is_wrong) {
  const SearchResult result = run({{{"tiled", kTileAndSplit}}, "tiled"},
                                  [](const Candidate& c) { return c.tuning.at("tile") == 16 ? bowl(c) : -1.0; });
  ASSERT_FALSE(fastest(result, 1).empty());
  EXPECT_EQ(to_string(fastest(result, 1)[0]->candidate), "tiled split=4 tile=16");
  EXPECT_EQ(result.trials.front().status, TrialStatus::wrong);
}

TEST_F(SearchTest, moves_pairs_together) {
  Tunable rows{"rows", "of a tile", {1, 2}, 1};
  Tunable columns{"columns", "of a tile", {4, 8}, 8};
  columns.paired_with = "rows";
  columns.pairs = {{1, 8}, {2, 4}};
  const OpenVariant variant{"paired", {rows, columns}};
  EXPECT_EQ(directions(variant), 1U);
  run({{variant}, "paired"}, [](const Candidate& c) { return c.tuning.at("rows") == 2 ? 1.0 : 2.0; });
  EXPECT_EQ(tried_, (std::vector<std::string>{"paired columns=8 rows=1", "paired columns=4 rows=2"}));
}

TEST(DuelTest, faster_is_beyond_the_spread_and_by_two_percent) {
  const std::vector<double> first(5, 1.0);
  const auto decide = [&](const std::vector<double>& second) { return is_faster(ratios(first, second)); };
  EXPECT_TRUE(decide({0.9, 0.9, 0.91, 0.9, 0.89}));
  EXPECT_FALSE(decide({0.99, 0.99, 0.99, 0.99, 0.99})) << "not worth it";
  EXPECT_FALSE(decide({0.5, 0.7, 0.9, 1.2, 1.4})) << "within the spread";
  EXPECT_FALSE(decide({1.1, 1.1, 1.1, 1.1, 1.1}));
  EXPECT_FALSE(is_faster(ratios({1, 1}, {0.5, 0.5}))) << "too few rounds";
}

}  // namespace
}  // namespace tessera::tool
