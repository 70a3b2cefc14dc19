// Classifying with a training set that passes through the device in slabs: on every device that is present the answers
// are those that it gives from one that lies there.
#include "tools/classify/classification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "support/scratch_folder.h"

namespace tessera::tool {
namespace {

class ClassifyStreamTest : public testing::Test {
 protected:
  testing_support::ScratchFolder scratch;
  Classification request;
};

TEST_F(ClassifyStreamTest, a_training_set_in_slabs_gives_the_same_answers_on_every_device) {
  // Three slabs at least of points on a spiral, labelled by the turn.
  const auto points = [&](const std::string& name, int count, double shift) {
    std::string rows, labels;
    for (int i = 0; i < count; ++i) {
      const double turn = (i + shift) / count * 4;
      rows += std::to_string(turn * std::cos(6.2831853 * turn)) + " " +
              std::to_string(turn * std::sin(6.2831853 * turn)) + "\n";
      labels += std::to_string(static_cast<int>(turn)) + "\n";
    }
    return std::pair(scratch.write(name, rows), scratch.write(name + "_labels", labels));
  };
  constexpr int kRows = 6 * static_cast<int>(KernelRegression::kSlabRows) + 12;
  std::tie(request.training_images, request.training_labels) = points("x", kRows, 0);
  std::tie(request.test_images, request.test_labels) = points("q", 30, 0.3);
  request.type = DataType::float32;
  for (const DeviceInfo& device : devices()) {
    SCOPED_TRACE(device.id);
    request.device = device.id;
    request.memory_bytes = 0;
    const ClassificationReport whole = classify(request);
    EXPECT_EQ(whole.slabs, 0);
    KernelRegression slab{.training_rows = kRows, .columns = 2, .queries = 30, .is_slab = true};
    const auto reports = explain(slab, open(device.id));
    if (std::none_of(reports.begin(), reports.end(), [](const VariantReport& r) { return r.can_run; })) continue;
    request.memory_bytes = 350'000;
    const ClassificationReport parts = classify(request);
    EXPECT_GE(parts.slabs, 3);
    EXPECT_LE(parts.memory_bytes, request.memory_bytes);
    EXPECT_EQ(parts.batch, 30);
    EXPECT_EQ(parts.kernel.variant, whole.kernel.variant);
    EXPECT_GT(whole.right, 20);
    EXPECT_EQ(parts.answers, whole.answers);
    for (std::size_t i = 0; i < whole.doubtful.size(); ++i) {
      EXPECT_EQ(parts.doubtful.at(i).index, whole.doubtful[i].index);
      EXPECT_EQ(parts.doubtful[i].judgement.value, whole.doubtful[i].judgement.value);
      EXPECT_EQ(parts.doubtful[i].judgement.nearest_row, whole.doubtful[i].judgement.nearest_row);
    }
    request.memory_bytes = 5000;
    try {
      (void)classify(request);
      ADD_FAILURE() << "nothing was refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(error.sentence().find("4096 training rows and 30 queries at a time"), std::string::npos)
          << error.sentence();
    }
  }
}

}  // namespace
}  // namespace tessera::tool
