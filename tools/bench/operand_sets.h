// The operands that a benchmark works on: several sets of the same content that take turns, and stay on the device
// while one variant after the other is measured on them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "conformance/problem_set.h"
#include "tools/selection.h"

namespace tessera::tool {

class OperandSets {
 public:
  /// The first set, with the job's kernel. Operands are made anew only if the last job was another case or device, or
  /// after forget(). Errors as Case::prepare().
  [[nodiscard]] conformance::Run& prepare(const Job& job);
  /// Did the last prepare() make operands?
  [[nodiscard]] bool are_new() const noexcept { return are_new_; }
  /// Makes sets until there are as many as take turns for this much work, all with the first one's kernel. Returns how
  /// many there are.
  std::size_t complete(const conformance::Work& work, Queue& queue);
  /// Queues a run on the next set.
  void enqueue(Queue& queue);
  /// Gives the operands back: after an error, or when they may be damaged.
  void forget();

 private:
  const OpenDevice* device_ = nullptr;
  const conformance::Case* problem_ = nullptr;
  std::vector<std::unique_ptr<conformance::Run>> sets_;
  std::size_t turn_ = 0;
  bool are_new_ = false;
};

}  // namespace tessera::tool
