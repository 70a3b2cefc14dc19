// Classifying drawn digits: on every device that is present, the answers are those of plain loops in double.
#include "tools/classify/classification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/scratch_folder.h"
#include "table_sample.h"
#include "tools/digits/digit_drawing.h"
#include "tools/digits/digit_files.h"

namespace tessera::tool {
namespace {

constexpr std::int64_t kTraining = 1500;
constexpr std::int64_t kTest = 150;
constexpr std::uint64_t kSeed = 3;

/// The study's answer, the vote's, and how far each is from being another one.
struct Expected {
  std::int64_t label = 0;
  std::int64_t rounded = 0;
  std::int64_t voted = 0;
  double to_edge = 0;
  double vote_margin = 0;
};

std::vector<Expected> expected_answers(Distance distance, double order) {
  std::vector<DigitImage> training;
  for (int i = 0; i < kTraining; ++i) training.push_back(draw_digit(kSeed, 0, i));
  std::vector<Expected> all;
  for (int q = 0; q < kTest; ++q) {
    const DigitImage query = draw_digit(kSeed, 1, q);
    std::vector<double> exponents;
    for (const DigitImage& image : training) {
      int squared = 0;
      for (std::size_t p = 0; p < kDigitPixels; ++p) {
        const int difference = int{image.pixels[p]} - int{query.pixels[p]};
        squared += difference * difference;
      }
      const double scaled = squared / (255.0 * 255.0);
      exponents.push_back(order * order * (distance == Distance::squared ? scaled : std::sqrt(scaled)) / 2);
    }
    const double least = *std::min_element(exponents.begin(), exponents.end());
    double sum = 0, weighed = 0;
    std::vector<double> votes(10);
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      const double weight = std::exp(least - exponents[i]);
      sum += weight;
      weighed += weight * training[i].label;
      votes[training[i].label] += weight;
    }
    const double value = weighed / sum;
    Expected answer{.label = query.label, .rounded = std::llround(value)};
    answer.to_edge = std::abs(value - std::floor(value) - 0.5);
    answer.voted = std::max_element(votes.begin(), votes.end()) - votes.begin();
    std::sort(votes.begin(), votes.end());
    answer.vote_margin = (votes[9] - votes[8]) / sum;
    all.push_back(answer);
  }
  return all;
}

/// In float a weight's exponent is off by some 2^-23 of at most 600 here, a value by nine times that: below 1e-3.
constexpr double kEdge = 2e-3;

class ClassifyTest : public testing::Test {
 protected:
  void SetUp() override {
    write_digits({.folder = scratch.path("d"), .training_images = kTraining, .test_images = kTest, .seed = kSeed});
    request.training_images = scratch.path("d/train-images-idx3-ubyte");
    request.training_labels = scratch.path("d/train-labels-idx1-ubyte");
    request.test_images = scratch.path("d/t10k-images-idx3-ubyte");
    request.test_labels = scratch.path("d/t10k-labels-idx1-ubyte");
  }

  /// On every device: each answer, and an accuracy within what images at an edge may change.
  void expect_answers(const std::vector<Expected>& expected) {
    std::int64_t right = 0, at_edge = 0;
    for (const Expected& answer : expected) {
      const bool is_certain = request.by_vote ? answer.vote_margin > kEdge : answer.to_edge > kEdge;
      at_edge += is_certain ? 0 : 1;
      right += is_certain && (request.by_vote ? answer.voted : answer.rounded) == answer.label ? 1 : 0;
    }
    // The classifier's worth: with 1500 images to learn from it is right on most of them, chance on a tenth.
    EXPECT_GT(right, kTest * 7 / 10);
    EXPECT_LT(right, kTest);
    EXPECT_LE(at_edge, 3);
    for (const DeviceInfo& device : devices()) {
      if (request.type == DataType::float64 && !device.has_float64) continue;
      SCOPED_TRACE(device.id);
      request.device = device.id;
      const ClassificationReport report = classify(request);
      EXPECT_GE(report.right, right);
      EXPECT_LE(report.right, right + at_edge);
      ASSERT_EQ(report.answers.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if ((request.by_vote ? expected[i].vote_margin : expected[i].to_edge) <= kEdge) continue;
        EXPECT_EQ(report.answers[i], request.by_vote ? expected[i].voted : expected[i].rounded) << "image " << i;
      }
    }
  }

  testing_support::ScratchFolder scratch;
  Classification request;
};

TEST_F(ClassifyTest, bytes_get_the_answers_of_plain_loops_on_every_device) {
  const std::vector<Expected> expected = expected_answers(Distance::squared, 10);
  expect_answers(expected);
  request.by_vote = true;
  expect_answers(expected);
}

TEST_F(ClassifyTest, so_do_floats_and_the_other_distance) {
  request.distance = Distance::euclidean;
  expect_answers(expected_answers(Distance::euclidean, 10));
  request.distance = Distance::squared;
  request.order = 2;  // an answer from many images
  request.by_vote = true;
  const std::vector<Expected> expected = expected_answers(Distance::squared, 2);
  for (const DataType type : {DataType::float32, DataType::float64}) {
    request.type = type;
    expect_answers(expected);
  }
}

class ClassifyOnCpuTest : public ClassifyTest {
 protected:
  void SetUp() override {
    for (const DeviceInfo& info : devices()) {
      if (info.id == "cpu:0") return ClassifyTest::SetUp();
    }
    GTEST_SKIP() << "cpu:0 is not here";
  }
  ClassificationReport run() {
    request.device = "cpu:0";
    return classify(request);
  }
};

TEST_F(ClassifyOnCpuTest, the_answer_does_not_depend_on_the_batch) {
  const ClassificationReport whole = run();
  request.batch = 7;
  const ClassificationReport parts = run();
  EXPECT_EQ(parts.answers, whole.answers);
  EXPECT_EQ(parts.counts, whole.counts);
  ASSERT_EQ(parts.doubtful.size(), 10U);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(parts.doubtful[i].index, whole.doubtful[i].index);
    EXPECT_EQ(parts.doubtful[i].margin, whole.doubtful[i].margin);
    EXPECT_EQ(parts.doubtful[i].judgement.nearest_row, whole.doubtful[i].judgement.nearest_row);
  }
}

TEST_F(ClassifyOnCpuTest, doubtful_images_are_those_of_the_least_margin) {
  request.order = 2;
  request.doubtful = kTest;
  const ClassificationReport all = run();
  ASSERT_EQ(all.doubtful.size(), static_cast<std::size_t>(kTest));
  for (int i = 1; i < kTest; ++i) EXPECT_LE(all.doubtful[i - 1].margin, all.doubtful[i].margin);
  request.doubtful = 4;
  const ClassificationReport some = run();
  ASSERT_EQ(some.doubtful.size(), 4U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(some.doubtful[i].index, all.doubtful[i].index);
  for (const DoubtfulImage& image : all.doubtful) {
    EXPECT_GE(image.judgement.neighbours, 1 - 1e-6);
    EXPECT_EQ(image.nearest_label, draw_digit(kSeed, 0, image.judgement.nearest_row).label);
  }
}

TEST_F(ClassifyOnCpuTest, labels_may_be_any_whole_numbers) {
  // Two points on a line, at 0 and 1: a query at 0.6 is nearer to the second.
  request.training_images = scratch.write("x", "0\n1\n");
  request.training_labels = scratch.write("y", "-7\n-5\n");
  request.test_images = scratch.write("q", "0.6\n0.1\n");
  request.test_labels = scratch.write("l", "-5\n-7\n");
  request.order = 3;
  const ClassificationReport report = run();
  EXPECT_EQ(report.type, DataType::float64);
  EXPECT_EQ(report.scale, 1);
  // Weights are exp(-4.5 * 0.36) and exp(-4.5 * 0.16): 0.289 and 0.711 of all, so the value is -5.58.
  EXPECT_EQ(report.answers, (std::vector<std::optional<std::int64_t>>{-6, -7}));
  ASSERT_EQ(report.doubtful.size(), 2U);
  const double share = 1 / (1 + std::exp(-4.5 * 0.2));
  EXPECT_EQ(report.doubtful[0].index, 0);
  EXPECT_NEAR(report.doubtful[0].judgement.value, -7 + 2 * share, 1e-12);
  EXPECT_NEAR(report.doubtful[0].margin, -share, 1e-12) << "nothing says -6";
  EXPECT_NEAR(report.doubtful[0].judgement.nearest_distance, 0.4, 1e-12);
  request.by_vote = true;
  EXPECT_EQ(run().right, 2);
}

TEST_F(ClassifyOnCpuTest, an_image_infinitely_far_from_all_has_no_answer) {
  request.training_images = scratch.write("x", "0\n1\n");
  request.training_labels = scratch.write("y", "0\n1\n");
  request.test_images = scratch.write("q", "1\n1e200\n");
  request.test_labels = scratch.write("l", "1\n1\n");
  const ClassificationReport report = run();
  EXPECT_EQ(report.unanswered, std::vector<std::int64_t>{1});
  EXPECT_EQ(report.right, 1);
  EXPECT_EQ(report.doubtful.at(0).index, 1);
  EXPECT_EQ(report.doubtful.at(0).margin, -1);
}

TEST_F(ClassifyOnCpuTest, a_training_set_beyond_the_memory_is_refused_before_it_is_read) {
  // 33 TB, by the word of a head that is packed and so cannot be checked against the file's size.
  constexpr std::uint32_t kRows = 2'000'000;
  request.training_images =
      scratch.write("x", testing_support::gzip(testing_support::idx(0x08, {kRows, 4096, 4096}, "")));
  request.training_labels = scratch.write("y", testing_support::idx(0x08, {kRows}, std::string(kRows, '\1')));
  request.test_images = scratch.write("q", testing_support::gzip(testing_support::idx(0x08, {1, 4096, 4096}, "")));
  request.test_labels = scratch.write("l", "1\n");
  try {
    (void)run();
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(error.sentence().find("holds 2000000 rows of 16777216 bytes, but this machine has "), std::string::npos)
        << error.sentence();
  }
}

TEST_F(ClassifyOnCpuTest, sets_that_do_not_go_together_are_refused) {
  const auto refusal = [&] {
    try {
      (void)run();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.sentence();
    }
    return std::string();
  };
  const std::string images = request.test_images;
  request.test_images = scratch.write("q", "1 2 3\n");
  request.test_labels = scratch.write("l", "1\n");
  EXPECT_NE(refusal().find("holds 784 numbers in a row, but the file of test images"), std::string::npos) << refusal();
  std::string row;
  for (int i = 0; i < 784; ++i) row += "0.5 ";
  request.test_images = scratch.write("q", row);
  EXPECT_NE(refusal().find("but must hold whole numbers from 0 to 255 to be compared as uint8"), std::string::npos);
  request.training_images = scratch.write("x", "1\n2\n");
  request.training_labels = scratch.write("y", "0\n1024\n");
  request.test_images = scratch.write("q", "1\n");
  EXPECT_EQ(refusal(), "the training labels reach from 0 to 1024, but may be at most 1023 apart");
}

}  // namespace
}  // namespace tessera::tool
