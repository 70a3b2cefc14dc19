// Transfers whose element type is known at run time, on every device: all types, all kinds of host memory, parts, and
// back to buffers and views that know their type.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

class UntypedViewTest : public EachDevice {
 protected:
  /// Every way there and back with elements of T.
  template <class T>
  void goes_there_and_back() const {
    SCOPED_TRACE(to_string(data_type_of<T>));
    const T low = std::numeric_limits<T>::lowest();
    const std::vector<T> values{T{1}, T{2}, low, std::numeric_limits<T>::max(), T{5}};
    const UntypedView view = device().allocate_untyped(data_type_of<T>, values.size());
    const UntypedView other = device().allocate_untyped(data_type_of<T>, values.size());
    Queue queue(device());

    queue.upload(view, values);  // borrowed
    EXPECT_EQ(queue.download<T>(view).get(), values);
    queue.fill(view, low);
    EXPECT_EQ(queue.download<T>(view).get(), std::vector<T>(values.size(), low));
    queue.upload(view, std::vector<T>(values));  // taken over
    queue.copy(other, view);
    std::vector<T> found(values.size());
    queue.download(other, found);
    queue.finish();
    EXPECT_EQ(found, values);

    const auto pinned = device().allocate_pinned<T>(2);
    pinned[0] = T{7};
    pinned[1] = T{8};
    queue.upload(view.part(1, 2), pinned);
    queue.download(view.part(2, 2), pinned);
    queue.finish();
    EXPECT_EQ(pinned[0], T{8});
    EXPECT_EQ(pinned[1], values[3]);
    EXPECT_EQ(queue.download<T>(view).get(), (std::vector<T>{T{1}, T{7}, T{8}, values[3], T{5}}));

    queue.upload(view, std::span<const T>(values));
    std::array<T, 5> array{};
    queue.download(view.as_const(), array);
    queue.finish();
    EXPECT_EQ(std::vector<T>(array.begin(), array.end()), values);

    const BufferView<T> known(view);
    EXPECT_EQ(queue.download(known).get(), values);
    EXPECT_EQ(queue.download(BufferView<const T>(view.as_const())).get(), values);
    queue.copy(other, known.part(0, 5));
    queue.copy(known, other);
    EXPECT_EQ(queue.download(Buffer<T>(view)).get(), values);
  }
};
TESSERA_ON_EACH_DEVICE(UntypedViewTest);

TEST_P(UntypedViewTest, every_type_goes_there_and_back) {
  goes_there_and_back<std::int8_t>();
  goes_there_and_back<std::uint8_t>();
  goes_there_and_back<std::int16_t>();
  goes_there_and_back<std::uint16_t>();
  goes_there_and_back<std::int32_t>();
  goes_there_and_back<std::uint32_t>();
  goes_there_and_back<std::int64_t>();
  goes_there_and_back<std::uint64_t>();
  goes_there_and_back<float>();
  goes_there_and_back<double>();
}

TEST_P(UntypedViewTest, no_elements_are_allowed) {
  const UntypedView view = device().allocate_untyped(DataType::int16, 0);
  Queue queue(device());
  queue.upload(view, std::vector<std::int16_t>());
  queue.fill(view, std::int16_t{1});
  queue.copy(view, device().allocate_untyped(DataType::int16, 0));
  EXPECT_TRUE(queue.download<std::int16_t>(view).get().empty());
}

}  // namespace
}  // namespace tessera::testing_support
