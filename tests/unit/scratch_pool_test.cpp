// The CPU backend's scratch memory: what is lent again, to whom, and that threads never share a block.
#include "cpu_tbb_scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <tessera/error.h>

namespace tessera::cpu_tbb {
namespace {

std::shared_ptr<MemoryBudget> make_budget(std::uint64_t limit_bytes = 1 << 28) {
  return std::make_shared<MemoryBudget>(limit_bytes);
}

std::byte* address_of_loan(ScratchPool& pool, std::size_t size_bytes) {
  return ScratchPool::Loan(pool, size_bytes).data();
}

TEST(ScratchPoolTest, blocks_are_aligned_and_writable) {
  ScratchPool pool(make_budget());
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{3} << 20, std::size_t{5000001}}) {
    const ScratchPool::Loan loan(pool, size);
    ASSERT_NE(loan.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(loan.data()) % ScratchPool::kAlignment, 0U);
    std::memset(loan.data(), 1, size);
  }
}

TEST(ScratchPoolTest, nothing_is_lent_for_nothing) {
  ScratchPool pool(make_budget());
  EXPECT_EQ(address_of_loan(pool, 0), nullptr);
}

TEST(ScratchPoolTest, a_thread_gets_its_block_again) {
  ScratchPool pool(make_budget());
  std::byte* const first = address_of_loan(pool, 4096);
  EXPECT_EQ(address_of_loan(pool, 4096), first);
  EXPECT_EQ(address_of_loan(pool, 100), first);
}

TEST(ScratchPoolTest, the_smallest_block_that_fits_is_lent) {
  ScratchPool pool(make_budget());
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

TEST(ScratchPoolTest, another_threads_block_is_lent_before_a_new_one) {
  ScratchPool pool(make_budget());
  std::byte* const first = address_of_loan(pool, 4096);
  std::byte* second = nullptr;
  std::thread([&] { second = address_of_loan(pool, 4096); }).join();
  EXPECT_EQ(second, first);
}

TEST(ScratchPoolTest, threads_never_share_a_block) {
  ScratchPool pool(make_budget());
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

TEST(ScratchPoolTest, blocks_count_in_the_budget_lent_or_not) {
  const auto budget = make_budget();
  {
    ScratchPool pool(budget);
    {
      const ScratchPool::Loan one(pool, 1000);
      const ScratchPool::Loan other(pool, 3 << 20);
      EXPECT_GE(pool.held_bytes(), 1000U + (3U << 20));
      EXPECT_EQ(budget->used_bytes(), pool.held_bytes());
    }
    EXPECT_GE(pool.held_bytes(), 1000U + (3U << 20));
    EXPECT_EQ(budget->used_bytes(), pool.held_bytes());
  }
  EXPECT_EQ(budget->used_bytes(), 0U);
}

TEST(ScratchPoolTest, what_is_not_lent_is_given_back) {
  const auto budget = make_budget();
  ScratchPool pool(budget);
  const ScratchPool::Loan lent(pool, 5000);
  std::memset(lent.data(), 7, 5000);
  static_cast<void>(address_of_loan(pool, 70000));
  std::thread([&] { static_cast<void>(address_of_loan(pool, 80000)); }).join();
  const std::uint64_t before = pool.held_bytes();
  const std::uint64_t freed = pool.trim();
  EXPECT_GE(freed, 80000U);
  EXPECT_EQ(pool.held_bytes(), before - freed);
  EXPECT_EQ(pool.held_bytes(), 5000U);
  EXPECT_EQ(budget->used_bytes(), 5000U);
  EXPECT_EQ(pool.trim(), 0U);
  EXPECT_EQ(std::count(lent.data(), lent.data() + 5000, std::byte{7}), 5000);
}

TEST(ScratchPoolTest, idle_blocks_make_room) {
  ScratchPool pool(make_budget(100000));
  {
    const ScratchPool::Loan one(pool, 40000);
    const ScratchPool::Loan other(pool, 40000);
  }
  EXPECT_EQ(pool.held_bytes(), 80000U);
  EXPECT_NE(address_of_loan(pool, 90000), nullptr);
  EXPECT_EQ(pool.held_bytes(), 90000U);
}

TEST(ScratchPoolTest, others_give_back_before_a_loan_is_refused) {
  const auto budget = make_budget(100000);
  ScratchPool pool(budget);
  ASSERT_TRUE(budget->try_take(60000));
  int asked = 0;
  pool.set_reclaim([&] {
    if (++asked > 1) return false;
    budget->give_back(20000);
    return true;
  });
  const ScratchPool::Loan loan(pool, 60000);
  EXPECT_EQ(asked, 1);
  try {
    static_cast<void>(address_of_loan(pool, 50000));
    FAIL() << "there is no room for it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    for (const char* number : {"50000", "100000"})
      EXPECT_NE(error.sentence().find(number), std::string::npos) << error.what();
  }
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(budget->used_bytes(), 100000U) << "a refused loan takes nothing";
}

}  // namespace
}  // namespace tessera::cpu_tbb
