// The turn: loops of several queues run one after the other on the same threads, the one that has the turn first. A
// loop that has it may wait for a queue whose loop comes behind it; this file also has the way out of that.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tessera::cpu_tbb {

/// One loop has the turn at a time. A loop's body may be a program's own function, and that function may wait for
/// another queue of the same device. So a thread that waits for the turn gives up where the turn cannot come, and
/// computes without it.
class LoopTurn {
 public:
  LoopTurn() = default;
  LoopTurn(const LoopTurn&) = delete;
  LoopTurn& operator=(const LoopTurn&) = delete;

  /// Waits for the turn and takes it. False, and the turn is not taken: the loop that has it waits for other work. It
  /// has said so (WaitInsideLoop), or it takes so long that this must be assumed.
  [[nodiscard]] bool wait();
  /// Takes the turn if nobody has it.
  [[nodiscard]] bool try_take();
  void give_back();

  /// A thread that is inside of the loop that has the turn: for as long as this lives.
  class Inside {
   public:
    explicit Inside(LoopTurn& turn) noexcept;
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    LoopTurn* const outer_;
  };
  /// Is the calling thread inside of a loop that has this turn?
  [[nodiscard]] bool is_inside() const noexcept;

 private:
  friend class WaitInsideLoop;
  void note_waiting(int change);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;
  int asking_ = 0;              // threads in wait()
  int hungry_ = 0;              // of these, those that nobody may overtake any more
  int waiting_ = 0;             // threads inside of the loop that wait for other work
  std::uint64_t number_ = 0;    // how many turns were taken: the number of the present one
  std::uint64_t given_up_ = 0;  // the turn that was waited for in vain
};

/// The calling thread waits for work of a device, for as long as this lives: if it is inside of a loop, those who ask
/// for that loop's turn are told.
class WaitInsideLoop {
 public:
  WaitInsideLoop();
  ~WaitInsideLoop();
  WaitInsideLoop(const WaitInsideLoop&) = delete;
  WaitInsideLoop& operator=(const WaitInsideLoop&) = delete;

 private:
  LoopTurn* const turn_;
};

}  // namespace tessera::cpu_tbb
