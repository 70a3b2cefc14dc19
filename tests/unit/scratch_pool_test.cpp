// The CPU backend's scratch memory: what is lent again, to whom, and that threads never share a block.
#include "cpu_tbb_scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace tessera::cpu_tbb {
namespace {

std::byte* address_of_loan(ScratchPool& pool, std::size_t size_bytes) {
  return ScratchPool::Loan(pool, size_bytes).data();
}

TEST(ScratchPoolTest, BlocksAreAlignedAndWritable) {
  ScratchPool pool;
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{3} << 20, std::size_t{5000001}}) {
    const ScratchPool::Loan loan(pool, size);
    ASSERT_NE(loan.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(loan.data()) % ScratchPool::kAlignment, 0U);
    std::memset(loan.data(), 1, size);
  }
}

TEST(ScratchPoolTest, NothingIsLentForNothing) {
  ScratchPool pool;
  EXPECT_EQ(address_of_loan(pool, 0), nullptr);
}

TEST(ScratchPoolTest, AThreadGetsItsBlockAgain) {
  ScratchPool pool;
  std::byte* const first = address_of_loan(pool, 4096);
  EXPECT_EQ(address_of_loan(pool, 4096), first);
  EXPECT_EQ(address_of_loan(pool, 100), first);
}

TEST(ScratchPoolTest, TheSmallestBlockThatFitsIsLent) {
  ScratchPool pool;
  std::byte* large = nullptr;
  std::byte* small = nullptr;
  {
    const ScratchPool::Loan first(pool, 100000);
    const ScratchPool::Loan second(pool, 4096);
    large = first.data();
    small = second.data();
  }
  const ScratchPool::Loan first(pool, 1000);
  const ScratchPool::Loan second(pool, 50000);
  EXPECT_EQ(first.data(), small);
  EXPECT_EQ(second.data(), large);
}

TEST(ScratchPoolTest, AnotherThreadsBlockIsLentBeforeANewOne) {
  ScratchPool pool;
  std::byte* const first = address_of_loan(pool, 4096);
  std::byte* second = nullptr;
  std::thread([&] { second = address_of_loan(pool, 4096); }).join();
  EXPECT_EQ(second, first);
}

TEST(ScratchPoolTest, ThreadsNeverShareABlock) {
  ScratchPool pool;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&pool, &wrong, number] {
      for (std::size_t round = 0; round < 500; ++round) {
        const std::size_t size = 64 + (round * 37 + static_cast<std::size_t>(number) * 101) % 5000;
        const ScratchPool::Loan one(pool, size);
        const ScratchPool::Loan other(pool, size / 2);
        std::memset(one.data(), number, size);
        std::memset(other.data(), number + 100, size / 2);
        std::this_thread::yield();
        const auto count = static_cast<std::size_t>(std::count(one.data(), one.data() + size, std::byte(number)));
        if (count != size || other.data()[0] != std::byte(number + 100)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace tessera::cpu_tbb
