// Marks on a queue that survive a fault: after each of a program's own kernels the queue writes the command's number
// into host memory, so that after a fault the host can read which were done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "backend/backend.h"
#include "cuda_context.h"

namespace tessera::cuda {

/// Belongs to one queue and is used under its lock. Never throws: without marks an error only names more suspects.
class ProgressMarks {
 public:
  /// So many launches in flight are marked one by one. A program that queues more queues in bulk, where a mark for each
  /// launch would cost half as much as the launch: from there on only every kMarkedTogether-th is marked.
  static constexpr std::size_t kMarkedSingly = 32;
  static constexpr std::size_t kMarkedTogether = 8;

  explicit ProgressMarks(const Context& context) noexcept;
  ProgressMarks(const ProgressMarks&) = delete;
  ProgressMarks& operator=(const ProgressMarks&) = delete;
  /// The stream is idle.
  ~ProgressMarks();

  /// Queues a mark that says "past `command`", or leaves that to a later command's.
  void add(CUstream stream, std::uint64_t command) noexcept;
  /// Narrows `suspects` to the commands that the marks do not clear: those after the last mark that was written, up to
  /// the next mark.
  void narrow(backend::Suspects& suspects) const noexcept;

 private:
  [[nodiscard]] std::uint64_t last_written() const noexcept;

  const Context& context_;
  std::uint32_t* written_ = nullptr;  ///< page-locked; the low half of the last command marked, written by the card
  CUdeviceptr address_ = 0;
  std::uint64_t newest_ = 0;
  std::size_t unmarked_ = 0;          ///< launches since the last mark
  std::deque<std::uint64_t> queued_;  ///< commands marked and not yet seen written; the driver bounds what is pending
};

}  // namespace tessera::cuda
