// Wrong transfers and wrong views on every device.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

class BufferMisuseTest : public EachDevice {
 protected:
  void SetUp() override { buffer_ = device().upload<float>(std::vector<float>(10, 1.0F)); }

  template <class Action>
  void expect_refused(Action&& action, const std::vector<std::string>& parts) {
    const Refusal refusal = refusal_of(action);
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    for (const std::string& part : parts) EXPECT_TRUE(contains(refusal.what, part));
    EXPECT_EQ(Queue(device()).download(buffer_).get(), std::vector<float>(10, 1.0F));
  }

  Buffer<float> buffer_;
};
TESSERA_ON_EACH_DEVICE(BufferMisuseTest);

TEST_P(BufferMisuseTest, lengths_that_differ) {
  Queue queue(device());
  std::vector<float> nine(9, 7.0F);
  std::vector<float> eleven(11, 7.0F);
  expect_refused([&] { queue.upload(buffer_, nine); }, {"9 elements", "10"});
  expect_refused([&] { queue.upload(buffer_, std::vector<float>(11)); }, {"11 elements", "10"});
  expect_refused([&] { queue.download(buffer_, eleven); }, {"11 elements", "10"});
  expect_refused([&] { queue.download(buffer_.view(1, 8), nine); }, {"9 elements", "8"});
  EXPECT_EQ(nine, std::vector<float>(9, 7.0F));
  const auto pinned = device().allocate_pinned<float>(3);
  expect_refused([&] { queue.upload(buffer_, pinned); }, {"3 elements", "10"});
  expect_refused([&] { queue.copy(buffer_, device().allocate<float>(12)); }, {"12 elements", "10"});
}

TEST_P(BufferMisuseTest, null_host_memory) {
  Queue queue(device());
  float* const nowhere = nullptr;
  expect_refused([&] { queue.upload(buffer_, std::span<const float>(nowhere, 10)); }, {"null", "10"});
  expect_refused([&] { queue.download(buffer_, std::span<float>(nowhere, 10)); }, {"null", "10"});
}

TEST_P(BufferMisuseTest, buffers_that_hold_nothing) {
  Queue queue(device());
  const Buffer<float> nothing;
  expect_refused([&] { queue.upload(nothing, std::vector<float>(10)); }, {"nothing"});
  expect_refused([&] { static_cast<void>(queue.download(nothing)); }, {"nothing"});
  expect_refused([&] { queue.fill(nothing, 1.0F); }, {"nothing"});
  expect_refused([&] { queue.copy(buffer_, nothing); }, {"nothing"});
  expect_refused([&] { queue.copy(nothing, buffer_); }, {"nothing"});
  expect_refused([&] { static_cast<void>(nothing.view(0, 1)); }, {"nothing"});
}

TEST_P(BufferMisuseTest, buffers_of_another_device) {
  const Device again = fresh_device();
  const auto stranger = again.allocate<float>(10);
  Queue queue(device());
  expect_refused([&] { queue.upload(stranger, std::vector<float>(10)); }, {GetParam()});
  expect_refused([&] { static_cast<void>(queue.download(stranger)); }, {GetParam()});
  expect_refused([&] { queue.copy(stranger, buffer_); }, {GetParam()});
}

TEST_P(BufferMisuseTest, a_copy_onto_itself) {
  Queue queue(device());
  expect_refused([&] { queue.copy(buffer_.view(0, 6), buffer_.view(4, 6)); }, {"overlap"});
  expect_refused([&] { queue.copy(buffer_, buffer_); }, {"overlap"});
}

TEST_P(BufferMisuseTest, views_past_the_end_name_the_label) {
  const auto labelled = device().allocate<float>(10, {.label = "the weights"});
  expect_refused([&] { static_cast<void>(labelled.view(8, 3)); }, {"'the weights'", "8", "3", "10"});
}

TEST_P(BufferMisuseTest, sizes_no_machine_has) {
  expect_refused([&] { static_cast<void>(device().allocate<double>(SIZE_MAX)); }, {std::to_string(SIZE_MAX)});
  expect_refused([&] { static_cast<void>(device().allocate_untyped(DataType::int64, SIZE_MAX / 8)); }, {GetParam()});
}

}  // namespace
}  // namespace tessera::testing_support
