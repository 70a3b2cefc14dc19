// A signal asks for an orderly end, whatever handlers drivers put in place; one that comes again later ends the program
// as signals do; and a hang-up that is ignored stays so.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tools/process/interrupt.h"

namespace tessera::tool {
namespace {

constexpr useconds_t kMoment_us = 100000;
constexpr useconds_t kBehindOneRequest_us = 700000;

/// To the process, as terminals and other programs send it, and until it has arrived.
void send(int signal) {
  kill(getpid(), signal);
  usleep(kMoment_us);
}

TEST(InterruptDeathTest, twice_at_once_is_one_request) {
  EXPECT_EXIT(
      {
        listen_for_interrupt();
        send(SIGTERM);
        send(SIGTERM);
        _exit(is_interrupted() ? interrupt_exit_code() : 0);
      },
      testing::ExitedWithCode(128 + SIGTERM), "");
}

TEST(InterruptDeathTest, again_after_a_while_ends_the_program) {
  EXPECT_EXIT(
      {
        listen_for_interrupt();
        send(SIGINT);
        usleep(kBehindOneRequest_us);
        send(SIGINT);
        _exit(0);
      },
      testing::KilledBySignal(SIGINT), "");
}

// As LLVM's does in PoCL's threads.
TEST(InterruptDeathTest, a_drivers_handler_takes_nothing_away) {
  EXPECT_EXIT(
      {
        listen_for_interrupt();
        std::thread driver([] {
          struct sigaction theirs = {};
          theirs.sa_handler = [](int) { _exit(1); };
          theirs.sa_flags = static_cast<int>(SA_RESETHAND);
          sigaction(SIGINT, &theirs, nullptr);
          usleep(kBehindOneRequest_us);
        });
        usleep(kMoment_us);
        send(SIGINT);
        send(SIGINT);
        _exit(is_interrupted() ? interrupt_exit_code() : 0);
      },
      testing::ExitedWithCode(128 + SIGINT), "");
}

TEST(InterruptDeathTest, an_ignored_hang_up_stays_ignored) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        listen_for_interrupt();
        send(SIGHUP);
        _exit(is_interrupted() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tessera::tool
