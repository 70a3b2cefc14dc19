// Views whose type is known at run time, taken for another type, length or access on every device: each is refused with
// both types, and neither the device's memory nor the host's is touched.
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

class UntypedViewMisuseTest : public EachDevice {
 protected:
  void SetUp() override {
    doubles_ = device().allocate_untyped(DataType::float64, 10);
    Queue(device()).upload(doubles_, std::vector<double>(10, 1.0));
  }

  template <class Action>
  void expect_refused_here(Action&& action, const std::vector<std::string>& parts) {
    expect_refused(refusal_of(action), parts);
    EXPECT_EQ(Queue(device()).download<double>(doubles_).get(), std::vector<double>(10, 1.0));
  }

  UntypedView doubles_;
};
TESSERA_ON_EACH_DEVICE(UntypedViewMisuseTest);

TEST_P(UntypedViewMisuseTest, buffers_and_views_of_another_type) {
  expect_refused_here([&] { BufferView<float>{doubles_}; }, {"float64", "float32"});
  expect_refused_here([&] { BufferView<const float>{doubles_}; }, {"float64", "float32"});
  expect_refused_here([&] { Buffer<float>{doubles_}; }, {"float64", "float32"});
  expect_refused_here([&] { BufferView<std::int64_t>{doubles_}; }, {"float64", "int64"});
  expect_refused_here([&] { BufferView<std::uint64_t>{doubles_.part(0, 0)}; }, {"float64", "uint64"});
}

TEST_P(UntypedViewMisuseTest, a_download_never_writes_past_the_span) {
  Queue queue(device());
  std::vector<float> host(30, 7.0F);
  expect_refused_here([&] { queue.download(BufferView<float>(doubles_), std::span(host).subspan(10, 10)); },
                      {"float64", "float32"});
  expect_refused_here([&] { queue.download(doubles_, std::span(host).subspan(10, 10)); }, {"float64", "float32"});
  expect_refused_here([&] { queue.download(doubles_, std::span(host).subspan(10, 20)); }, {"float64", "float32"});
  expect_refused_here([&] { static_cast<void>(queue.download<float>(doubles_)); }, {"float64", "float32"});
  const auto pinned = device().allocate_pinned<float>(10);
  expect_refused_here([&] { queue.download(doubles_, pinned); }, {"float64", "float32"});
  queue.finish();
  EXPECT_EQ(host, std::vector<float>(30, 7.0F));
}

TEST_P(UntypedViewMisuseTest, uploads_and_fills_of_another_type) {
  Queue queue(device());
  const std::vector<float> host(10, 7.0F);
  expect_refused_here([&] { queue.upload(doubles_, host); }, {"float64", "float32"});
  expect_refused_here([&] { queue.upload(doubles_, std::vector<float>(20)); }, {"float64", "float32"});
  expect_refused_here([&] { queue.upload(doubles_, device().allocate_pinned<float>(10).span()); },
                      {"float64", "float32"});
  const auto pinned = device().allocate_pinned<std::int64_t>(10);
  expect_refused_here([&] { queue.upload(doubles_, pinned); }, {"float64", "int64"});
  expect_refused_here([&] { queue.fill(doubles_, 1.0F); }, {"float64", "float32"});
  expect_refused_here([&] { queue.fill(doubles_, 1); }, {"float64", "int32"});
  expect_refused_here([&] { queue.fill(doubles_, std::int64_t{1}); }, {"float64", "int64"});
}

TEST_P(UntypedViewMisuseTest, copies_between_types) {
  Queue queue(device());
  const UntypedView integers = device().allocate_untyped(DataType::int64, 10);
  const auto floats = device().allocate<float>(10);
  expect_refused_here([&] { queue.copy(doubles_, integers); }, {"float64", "int64"});
  expect_refused_here([&] { queue.copy(doubles_, floats); }, {"float64", "float32"});
  expect_refused_here([&] { queue.copy(floats, doubles_); }, {"float64", "float32"});
  expect_refused_here([&] { queue.copy(floats.view(0, 5), doubles_.part(0, 5)); }, {"float64", "float32"});
}

TEST_P(UntypedViewMisuseTest, lengths_that_differ) {
  Queue queue(device());
  std::vector<double> nine(9, 7.0);
  expect_refused_here([&] { queue.upload(doubles_, nine); }, {"9 elements", "10"});
  expect_refused_here([&] { queue.upload(doubles_, std::vector<double>(11)); }, {"11 elements", "10"});
  expect_refused_here([&] { queue.download(doubles_, nine); }, {"9 elements", "10"});
  expect_refused_here([&] { queue.copy(doubles_, doubles_.part(0, 9)); }, {"9 elements", "10"});
  EXPECT_EQ(nine, std::vector<double>(9, 7.0));
}

TEST_P(UntypedViewMisuseTest, read_only_destinations) {
  Queue queue(device());
  const UntypedView read_only = doubles_.as_const();
  const auto source = device().upload<double>(std::vector<double>(10, 7.0));
  expect_refused_here([&] { queue.upload(read_only, std::vector<double>(10)); }, {"read-only"});
  expect_refused_here([&] { queue.fill(read_only.part(0, 3), 7.0); }, {"read-only"});
  expect_refused_here([&] { queue.copy(read_only, source); }, {"read-only"});
  expect_refused_here([&] { BufferView<double>{read_only}; }, {"float64", "read-only"});
  expect_refused_here([&] { Buffer<double>{read_only}; }, {"float64", "read-only"});
  // A typed view that only reads stays so when its type is dropped.
  expect_refused_here([&] { queue.fill(BufferView<const double>(doubles_).untyped(), 7.0); }, {"read-only"});
}

TEST_P(UntypedViewMisuseTest, views_of_nothing) {
  const UntypedView nothing;
  EXPECT_FALSE(BufferView<double>(nothing));
  EXPECT_FALSE(Buffer<double>(nothing));
  Queue queue(device());
  expect_refused_here([&] { queue.upload(nothing, std::vector<double>(10)); }, {"nothing"});
  expect_refused_here([&] { static_cast<void>(queue.download<double>(nothing)); }, {"nothing"});
  expect_refused_here([&] { queue.fill(nothing, 1.0); }, {"nothing"});
  expect_refused_here([&] { queue.copy(doubles_, nothing); }, {"nothing"});
  expect_refused_here([&] { queue.copy(nothing, doubles_); }, {"nothing"});
}

TEST_P(UntypedViewMisuseTest, views_of_another_opening) {
  const Device again = fresh_device();
  const UntypedView stranger = again.allocate_untyped(DataType::float64, 10);
  Queue queue(device());
  expect_refused_here([&] { queue.upload(stranger, std::vector<double>(10)); }, {GetParam()});
  expect_refused_here([&] { queue.fill(stranger, 1.0); }, {GetParam()});
}

template <class Destination, class Range>
concept Uploads = requires(Queue& queue, const Destination& destination, Range&& host) {
  queue.upload(destination, std::forward<Range>(host));
};
template <class Source, class Range>
concept Downloads = requires(Queue& queue, const Source& source, Range&& host) {
  queue.download(source, std::forward<Range>(host));
};

TEST(UntypedViewConceptsTest, what_would_dangle_does_not_compile) {
  using Array = std::array<double, 3>;
  using Vector = std::vector<double>;
  static_assert(Uploads<UntypedView, Array&> && Uploads<UntypedView, const Array&>);
  static_assert(Uploads<UntypedView, Vector> && Uploads<UntypedView, Vector&>);
  static_assert(Uploads<UntypedView, std::span<const double>> && Uploads<UntypedView, PinnedBuffer<double>&>);
  static_assert(!Uploads<UntypedView, Array> && !Uploads<UntypedView, PinnedBuffer<double>>);
  static_assert(Downloads<UntypedView, Array&> && Downloads<UntypedView, Vector&>);
  static_assert(Downloads<UntypedView, std::span<double>> && Downloads<UntypedView, PinnedBuffer<double>&>);
  static_assert(!Downloads<UntypedView, Array> && !Downloads<UntypedView, Vector>);
  static_assert(!Downloads<UntypedView, const Vector&> && !Downloads<UntypedView, std::span<const double>>);
}

}  // namespace
}  // namespace tessera::testing_support
