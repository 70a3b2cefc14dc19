// Random problems: the same on every machine, valid, within their limits, and of the kind that their class names.
#include "tools/problems/random_problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tools/process/usage_error.h"
#include "tools/typed_problems.h"

namespace tessera::tool {
namespace {

using conformance::ProblemSet;
using Words = std::map<std::string, std::string>;

constexpr std::size_t kCount = 60;

const ProblemSet& set_of(const std::string& operator_name) {
  for (const ProblemSet& set : conformance::problem_sets()) {
    if (set.operator_name == operator_name) return set;
  }
  throw Error(ErrorCode::invalid_argument, "there is no " + operator_name);
}

std::vector<Words> drawn(const std::string& operator_name, const std::string& of, std::uint64_t seed = 5,
                         const ProblemLimits& limits = {}) {
  std::vector<Words> all;
  const ProblemClass& of_class = *chosen_classes(operator_name, {of}).front();
  for (const RandomProblem& problem : random_problems(set_of(operator_name), of_class, kCount, seed, limits)) {
    const auto words = parse_problem(problem.text);
    EXPECT_EQ(words.size(), 1U) << problem.text;
    all.emplace_back(words.front().begin(), words.front().end());
  }
  return all;
}

std::int64_t number(const Words& words, const std::string& field, std::int64_t otherwise = 0) {
  const auto found = words.find(field);
  return found == words.end() ? otherwise : std::stoll(found->second);
}

/// x, y and z of "64x48x1".
std::vector<std::int64_t> axes(const Words& words, const std::string& field) {
  std::vector<std::int64_t> numbers;
  std::istringstream text(words.at(field));
  for (std::string one; std::getline(text, one, 'x');) numbers.push_back(std::stoll(one));
  return numbers;
}

TEST(RandomProblemsTest, every_operator_has_classes_of_valid_problems_within_limits) {
  const ProblemLimits limits;
  for (const ProblemSet& set : conformance::problem_sets()) {
    const auto& classes = problem_classes(set.operator_name);
    EXPECT_GE(classes.size(), 5U) << set.operator_name;
    std::set<std::string> names;
    for (const ProblemClass& of : classes) {
      EXPECT_TRUE(names.insert(of.name).second) << set.operator_name << " has two classes " << of.name;
      std::set<std::string> texts;
      for (const RandomProblem& problem : random_problems(set, of, kCount, 3, limits)) {
        texts.insert(problem.text);
        const auto made = set.make_case(parse_problem(problem.text).front());
        EXPECT_LE(made->work().flops, limits.most_flops) << set.operator_name << " " << of.name << " " << problem.text;
        EXPECT_LE(made->work().bytes, limits.most_bytes) << set.operator_name << " " << of.name << " " << problem.text;
      }
      EXPECT_GE(texts.size(), 10U) << set.operator_name << " " << of.name << ": the problems differ";
    }
  }
}

TEST(RandomProblemsTest, are_the_same_whatever_the_count_and_others_with_another_seed) {
  const ProblemSet& set = set_of("gemm");
  const ProblemClass& odd = *chosen_classes("gemm", {"odd"}).front();
  const auto few = random_problems(set, odd, 3, 7, {});
  const auto many = random_problems(set, odd, 20, 7, {});
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].text, many[i].text);
  EXPECT_NE(random_problems(set, odd, 1, 8, {}).front().text, few.front().text);
}

TEST(RandomProblemsTest, are_these_on_every_machine) {
  const auto first = [](const char* operator_name, const char* of) {
    return random_problems(set_of(operator_name), *chosen_classes(operator_name, {of}).front(), 1, 1, {}).front().text;
  };
  EXPECT_EQ(first("gemm", "vectors"), "m=9,n=1009,k=1345,type=float32,transpose_b=1");
  EXPECT_EQ(first("gemm", "batch"), "m=277,n=292,k=313,type=float32,batch=22,transpose_b=1");
  EXPECT_EQ(first("conv2d", "borders"), "height=91,width=1241,filter_height=2,filter_width=4,anchor_y=1,anchor_x=1");
  EXPECT_EQ(first("cnn_layer", "few_outputs"),
            "input_channels=44,output_channels=11,height=99,width=124,filter_height=9,"
            "filter_width=9,padding=4");
  EXPECT_EQ(first("patch_match", "odd"), "size=67x135x36,patch=2x3x4,window=4x6x8,step=1x1x2,type=uint16");
}

TEST(RandomProblemsTest, most_work_is_honoured_and_where_nothing_is_so_small_the_least_is_taken) {
  const ProblemSet& set = set_of("cnn_layer");
  const ProblemClass& layers = *chosen_classes("cnn_layer", {"layers"}).front();
  const auto most_of = [&](double most_flops) {
    double most = 0;
    for (const RandomProblem& problem : random_problems(set, layers, 30, 2, {.most_flops = most_flops}))
      most = std::max(most, set.make_case(parse_problem(problem.text).front())->work().flops);
    return most;
  };
  EXPECT_LE(most_of(2e8), 2e8);
  EXPECT_GT(most_of(8e9), 2e8);
  EXPECT_LT(most_of(1), 3e7) << "the smallest layers of all";
}

TEST(RandomProblemsTest, a_wrong_class_is_refused_with_the_list) {
  try {
    (void)chosen_classes("gemm", {"vectors", "sideways"});
    FAIL() << "there is no such class";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "there is no class 'sideways' of gemm, there are: vectors, transposed, odd, batch, layers, tiny, deep, "
              "shallow, any");
  }
  EXPECT_EQ(chosen_classes("gemm", {}).size(), problem_classes("gemm").size());
  EXPECT_TRUE(problem_classes("nothing").empty());
}

TEST(RandomProblemsTest, gemms_classes_are_what_they_say) {
  for (const Words& words : drawn("gemm", "vectors")) EXPECT_LE(std::min(number(words, "m"), number(words, "n")), 16);
  for (const Words& words : drawn("gemm", "transposed"))
    EXPECT_GE(number(words, "transpose_a") + number(words, "transpose_b"), 1);
  for (const Words& words : drawn("gemm", "odd")) {
    for (const char* field : {"m", "n", "k", "lda", "ldb"}) EXPECT_NE(number(words, field, 1) % 4, 0) << field;
    EXPECT_GE(number(words, "lda", number(words, "k")), number(words, "k"));
    EXPECT_GE(number(words, "ldb", number(words, "n")), number(words, "n"));
  }
  for (const Words& words : drawn("gemm", "batch")) EXPECT_GE(number(words, "batch"), 2);
  for (const Words& words : drawn("gemm", "tiny"))
    EXPECT_LE(std::max({number(words, "m"), number(words, "n"), number(words, "k")}), 64);
  for (const Words& words : drawn("gemm", "deep")) EXPECT_GE(number(words, "k"), 2048);
  for (const Words& words : drawn("gemm", "shallow")) EXPECT_LE(number(words, "k"), 32);
}

TEST(RandomProblemsTest, classes_of_images_are_what_they_say) {
  for (const Words& words : drawn("conv2d", "large_filters")) {
    EXPECT_GE(number(words, "filter_height"), 9);
    EXPECT_EQ(number(words, "filter_height") % 2, 1);
  }
  for (const Words& words : drawn("conv2d", "separable")) EXPECT_EQ(words.at("filter"), "rank1");
  for (const Words& words : drawn("conv2d", "strips"))
    EXPECT_EQ(std::min(number(words, "filter_height"), number(words, "filter_width")), 1);
  for (const Words& words : drawn("conv2d", "integers")) EXPECT_NE(words.at("type"), "float32");
  for (const Words& words : drawn("conv2d", "batch")) EXPECT_GE(number(words, "batch"), 2);
  for (const Words& words : drawn("conv2d", "odd")) EXPECT_NE(number(words, "width") % 4, 0);
}

TEST(RandomProblemsTest, classes_of_layers_are_what_they_say) {
  for (const Words& words : drawn("cnn_layer", "pointwise")) EXPECT_EQ(number(words, "filter_height"), 1);
  for (const Words& words : drawn("cnn_layer", "few_outputs")) EXPECT_LE(number(words, "output_channels"), 16);
  for (const Words& words : drawn("cnn_layer", "few_inputs")) EXPECT_LE(number(words, "input_channels"), 4);
  for (const Words& words : drawn("cnn_layer", "strided")) EXPECT_GE(number(words, "stride"), 2);
  for (const Words& words : drawn("cnn_layer", "channels_last")) EXPECT_EQ(words.at("layout"), "nhwc");
  for (const Words& words : drawn("cnn_layer", "odd")) EXPECT_NE(number(words, "input_channels") % 4, 0);
  for (const Words& words : drawn("cnn_layer", "batch")) EXPECT_GE(number(words, "batch"), 2);
}

TEST(RandomProblemsTest, classes_of_the_other_operators_are_what_they_say) {
  for (const Words& words : drawn("kernel_regression", "few_queries")) EXPECT_LE(number(words, "queries"), 16);
  for (const Words& words : drawn("kernel_regression", "narrow")) EXPECT_LE(number(words, "columns"), 16);
  for (const Words& words : drawn("kernel_regression", "outputs")) EXPECT_GE(number(words, "outputs"), 2);
  for (const Words& words : drawn("kernel_regression", "classes")) EXPECT_GE(number(words, "classes"), 2);
  for (const Words& words : drawn("patch_match", "images")) EXPECT_EQ(axes(words, "size").at(2), 1);
  for (const Words& words : drawn("patch_match", "dense")) EXPECT_EQ(words.at("step"), "1x1x1");
  for (const Words& words : drawn("patch_match", "many_kept")) EXPECT_GT(number(words, "max_patches"), 32);
  for (const char* name : {"denoise", "nonlocal_means"}) {
    for (const Words& words : drawn(name, "colours")) EXPECT_EQ(number(words, "channels"), 3);
    for (const Words& words : drawn(name, "volumes")) EXPECT_GT(axes(words, "size").at(2), 1);
    for (const Words& words : drawn(name, "bytes")) EXPECT_NE(words.at("type"), "float32");
  }
}

}  // namespace
}  // namespace tessera::tool
