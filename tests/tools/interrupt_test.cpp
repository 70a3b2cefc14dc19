// A signal asks for an orderly end; one that comes again later ends the program as signals do.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tools/process/interrupt.h"

namespace tessera::tool {
namespace {

TEST(InterruptDeathTest, twice_at_once_is_one_request) {
  EXPECT_EXIT(
      {
        listen_for_interrupt();
        raise(SIGTERM);
        raise(SIGTERM);
        _exit(is_interrupted() ? interrupt_exit_code() : 0);
      },
      testing::ExitedWithCode(128 + SIGTERM), "");
}

TEST(InterruptDeathTest, again_after_a_while_ends_the_program) {
  constexpr useconds_t kBehindOneRequest_us = 700000;
  EXPECT_EXIT(
      {
        listen_for_interrupt();
        raise(SIGINT);
        usleep(kBehindOneRequest_us);
        raise(SIGINT);
        _exit(0);
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace tessera::tool
