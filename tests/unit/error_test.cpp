// Error: what() tells the whole story, and copies share it.
#include <tessera/error.h>

#include <gtest/gtest.h>

#include <type_traits>

namespace tessera {
namespace {

TEST(ErrorTest, tells_code_sentence_doing_native_and_log) {
  const Error error(ErrorCode::build_failed, "the kernel 'x' does not compile", {-11, "CL_BUILD_PROGRAM_FAILURE"},
                    "line 1: no");
  const Error told = error.while_doing("compiling 'x'").while_doing("opening the shop");
  EXPECT_EQ(told.code(), ErrorCode::build_failed);
  EXPECT_EQ(told.sentence(), "the kernel 'x' does not compile");
  EXPECT_EQ(told.doing(), "compiling 'x', while opening the shop");
  EXPECT_EQ(told.native().code, -11);
  EXPECT_EQ(told.log(), "line 1: no");
  EXPECT_STREQ(told.what(),
               "build_failed: the kernel 'x' does not compile [while compiling 'x', while opening the shop] "
               "[CL_BUILD_PROGRAM_FAILURE, code -11]\nline 1: no");
}

TEST(ErrorTest, the_original_stays_as_it_was) {
  const Error error(ErrorCode::internal, "it breaks");
  (void)error.while_doing("trying");
  EXPECT_STREQ(error.what(), "internal: it breaks");
}

TEST(ErrorTest, copies_do_not_throw) {
  static_assert(std::is_nothrow_copy_constructible_v<Error>);
  static_assert(std::is_nothrow_copy_assignable_v<Error>);
}

}  // namespace
}  // namespace tessera
