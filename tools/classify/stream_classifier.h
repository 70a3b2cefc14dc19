// Classifying with a training set that stays in the host's memory and passes through the device in slabs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tessera/tessera.h>

#include "tools/classify/judgement.h"
#include "tools/classify/numbers.h"
#include "tools/classify/regression_problem.h"

namespace tessera::tool {

/// Would a training set that lies on the device, with what a batch needs beside it, pass nine tenths of what is free
/// there?
[[nodiscard]] bool passes_memory_of(const Device& device, const KernelRegression& problem, const KernelInfo& kernel);

class StreamClassifier {
 public:
  /// `kernel` is that of the problem in one piece; its variant computes every slab. At most so many bytes on the
  /// device, 0: nine tenths of what is free. Errors when images are judged: as tessera::stream().
  StreamClassifier(const Device& device, const KernelRegression& problem, const KernelInfo& kernel, Numbers training,
                   const std::vector<std::int64_t>& labels, std::uint64_t memory_bytes, DeviceTimes& times);

  /// Judges images: their rows, of the type of the training set. `tell` is given the share of the work that is done;
  /// what it throws ends the work and is passed on.
  [[nodiscard]] std::vector<Judgement> judge(const Numbers& images, std::int64_t count,
                                             const std::function<void(double)>& tell);
  /// Of the device, and slabs, so far.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return taken_bytes_; }
  [[nodiscard]] std::int64_t slabs() const noexcept { return slabs_; }

 private:
  template <class T>
  [[nodiscard]] std::vector<Judgement> judge_typed(const std::vector<T>& images, std::int64_t count,
                                                   const std::function<void(double)>& tell);
  void note(const StreamReport& report);

  const Device& device_;
  KernelRegression problem_;
  KernelOptions options_;
  Numbers training_;
  const std::vector<std::int64_t>& labels_;
  std::int64_t smallest_label_;
  std::uint64_t memory_bytes_;
  DeviceTimes& times_;
  std::uint64_t taken_bytes_ = 0;
  std::int64_t slabs_ = 0;
};

}  // namespace tessera::tool
