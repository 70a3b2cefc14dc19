// What leaves the public headers when the process has no memory left: tessera::Error with words that need none, and
// never std::bad_alloc. Requests of a thread that are as large as it was told, or larger, fail.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "support/allocation_faults.h"

namespace tessera {
namespace {

/// While it lives, this thread's allocations of `size_bytes` and more fail.
class NoMemoryFrom {
 public:
  explicit NoMemoryFrom(std::size_t size_bytes) { fault::arm_allocations_from(size_bytes); }
  ~NoMemoryFrom() { fault::disarm_allocations(); }
  NoMemoryFrom(const NoMemoryFrom&) = delete;
  NoMemoryFrom& operator=(const NoMemoryFrom&) = delete;
};

/// The error that the action ends in while allocations of `size_bytes` and more fail.
template <class Action>
Error error_without_memory(std::size_t size_bytes, Action&& action) {
  try {
    const NoMemoryFrom failing(size_bytes);
    action();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::internal, "std::bad_alloc came through"};
  }
  return {ErrorCode::internal, "nothing was thrown"};
}

TEST(HostMemoryTest, an_error_needs_no_memory) {
  const Error error = [] {
    const NoMemoryFrom failing(0);
    return Error::out_of_host_memory();
  }();
  EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
  EXPECT_STREQ(error.what(), "out_of_memory: the process has no memory left");
  EXPECT_EQ(error.doing(), "");
}

TEST(HostMemoryTest, an_error_without_memory_for_its_words_keeps_its_code) {
  for (const ErrorCode code : {ErrorCode::invalid_argument, ErrorCode::unsupported, ErrorCode::unavailable,
                               ErrorCode::build_failed, ErrorCode::device_lost, ErrorCode::internal}) {
    std::string words(100, 'x');
    const Error error = error_without_memory(0, [&] { throw Error(code, std::move(words)); });
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(error.sentence(), "the process has no memory left for the words of this error");
  }
}

TEST(HostMemoryTest, without_memory_for_more_words_an_error_stays_as_it_is) {
  const Error error(ErrorCode::device_lost, "the device is gone");
  const Error told = [&] {
    const NoMemoryFrom failing(0);
    return error.while_doing("running gemm");
  }();
  EXPECT_STREQ(told.what(), error.what());
  const Error none = Error::out_of_host_memory().while_doing("running gemm");
  EXPECT_STREQ(none.what(), "out_of_memory: the process has no memory left [while running gemm]");
}

TEST(HostMemoryTest, a_download_that_finds_no_memory_says_how_much) {
  constexpr std::size_t kCount = std::size_t{1} << 18;
  const Device device = open("minimal:0");
  const auto buffer = device.upload<float>(std::vector<float>(kCount, 3.0F));
  Queue queue(device);
  const Error error = error_without_memory(kCount * sizeof(float), [&] { (void)queue.download(buffer); });
  EXPECT_STREQ(error.what(), "out_of_memory: the process has no memory left for a download of 1048576 bytes");
  EXPECT_EQ(queue.download(buffer).get(), std::vector<float>(kCount, 3.0F));
  EXPECT_EQ(error_without_memory(0, [&] { (void)queue.download(buffer); }).sentence(),
            "the process has no memory left");
}

TEST(HostMemoryTest, an_upload_that_takes_the_vector_over_leaves_it_where_it_was) {
  const Device device = open("minimal:0");
  const auto buffer = device.upload<float>(std::vector<float>(10, 3.0F));
  Queue queue(device);
  std::vector<float> elements(10, 5.0F);
  const Error error = error_without_memory(0, [&] { queue.upload(buffer, std::move(elements)); });
  EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
  EXPECT_EQ(elements, std::vector<float>(10, 5.0F));  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_EQ(queue.download(buffer).get(), std::vector<float>(10, 3.0F));
}

TEST(HostMemoryTest, a_cpu_function_that_finds_no_memory) {
  const auto nothing = [](const WorkGroup&, std::span<float>) {};
  EXPECT_EQ(error_without_memory(0, [&] { const CpuFunction function(nothing); }).code(), ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace tessera
