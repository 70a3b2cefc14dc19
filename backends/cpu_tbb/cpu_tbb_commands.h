// The commands of a queue, in order. Threads that take turns put them in, and one worker takes them out, without a lock
// and without memory of each command's own:
//
//     segment             segment            A command is made in the next slot, and published by counting it. The
//     +---+---+---+---+   +---+---+---+---+  worker destroys it there. So what passes from processor to processor for
//     | x | x | a | b |-->| c | d |   |   |  a command is its slot and the count, never a lock or the allocator's
//     +---+---+---+---+   +---+---+---+---+  lists: with those a launch took 950 ns where two processors are far from
//               ^ worker           ^ next    each other, and takes 700 (an EPYC; without a file). The segment that the
//                                            worker leaves is the next one to be filled.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "cpu_tbb_executor.h"

namespace tessera::cpu_tbb {

struct Command {
  Command(std::uint64_t its_number, bool runs_even_if_poisoned) noexcept
      : number(its_number), even_if_poisoned(runs_even_if_poisoned) {}
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual void run(Executor& executor) = 0;
  const std::uint64_t number;
  const bool even_if_poisoned;  ///< events are passed, and told of the failure
};

template <class Work>
struct CommandOf final : Command {
  CommandOf(std::uint64_t its_number, bool runs_even_if_poisoned, Work&& its_work)
      : Command(its_number, runs_even_if_poisoned), work(std::move(its_work)) {}
  void run(Executor& executor) override { work(executor); }
  Work work;
};

class Commands {
 public:
  /// Throws std::bad_alloc.
  Commands() : filled_(new Segment), taken_from_(filled_) {}
  /// The worker has taken and dropped all.
  ~Commands() {
    if (filled_ != taken_from_) delete filled_;  // begun, but the command for it could not be made
    delete taken_from_;
    delete spare_.load();
  }
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  /// Makes a command in its place, the last; by one thread at a time. Throws std::bad_alloc, and then puts in nothing.
  template <class Work>
  void put(std::uint64_t number, bool even_if_poisoned, Work&& work) {
    using Made = CommandOf<Work>;
    Slot& slot = slot_to_fill();
    if constexpr (sizeof(Made) <= kSlotBytes && alignof(Made) <= alignof(Slot)) {
      slot.command = ::new (slot.bytes.data()) Made(number, even_if_poisoned, std::move(work));
      slot.apart = nullptr;
    } else {
      slot.apart = std::make_unique<Made>(number, even_if_poisoned, std::move(work));
      slot.command = slot.apart.get();
    }
    ++filled_slots_;
    // Before a sleeping worker is looked for (CpuTbbQueue::wake_worker()).
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  }
  /// How many were put in so far.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(); }

  /// For the worker: is there one to take?
  [[nodiscard]] bool has_next() noexcept {
    if (taken_ < known_count_) return true;
    known_count_ = count_.load();
    return taken_ < known_count_;
  }
  /// For the worker, where there is one: the first. It stays in its place until it is dropped.
  [[nodiscard]] Command& next() noexcept {
    if (taken_slots_ == kSlots) {
      // Whoever put in the first command of the next segment linked it before.
      delete spare_.exchange(std::exchange(taken_from_, taken_from_->next), std::memory_order_acq_rel);
      taken_slots_ = 0;
    }
    return *taken_from_->slots[taken_slots_].command;
  }
  /// Destroys it.
  void drop() noexcept {
    Slot& slot = taken_from_->slots[taken_slots_];
    if (slot.apart == nullptr) {
      slot.command->~Command();
    } else {
      slot.apart.reset();
    }
    ++taken_slots_;
    ++taken_;
  }

 private:
  static constexpr std::size_t kSlots = 32;
  static constexpr std::size_t kSlotBytes = 176;
  struct alignas(64) Slot {
    Command* command;
    std::unique_ptr<Command> apart;  ///< the command, where it is larger than the slot
    alignas(16) std::array<std::byte, kSlotBytes> bytes;
  };
  struct Segment {
    std::array<Slot, kSlots> slots;
    Segment* next = nullptr;
  };

  [[nodiscard]] Slot& slot_to_fill() {
    if (filled_slots_ == kSlots) {
      Segment* segment = spare_.exchange(nullptr, std::memory_order_acq_rel);
      if (segment == nullptr) segment = new Segment;
      segment->next = nullptr;
      filled_ = filled_->next = segment;
      filled_slots_ = 0;
    }
    return filled_->slots[filled_slots_];
  }

  // What threads that put in write, and what the worker writes, lie in lines of their own.
  alignas(64) Segment* filled_;
  std::size_t filled_slots_ = 0;
  alignas(64) std::atomic<std::uint64_t> count_{0};
  alignas(64) Segment* taken_from_;
  std::size_t taken_slots_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t known_count_ = 0;
  alignas(64) std::atomic<Segment*> spare_{nullptr};
};

}  // namespace tessera::cpu_tbb
