// Sets of operands that take turns.
#include "tools/bench/operand_sets.h"

#include <algorithm>
#include <cmath>

namespace tessera::tool {

namespace {

/// Operands that together are smaller than this would be answered from a cache, so that several sets take turns. The
/// number of sets stays small: what is gained beyond is not worth the memory.
constexpr double kBeyondCaches = 256.0 * (1 << 20);
constexpr double kMostInputSets = 8;

std::size_t sets_for(const conformance::Work& work) {
  if (work.bytes <= 0) return 1;
  return static_cast<std::size_t>(std::clamp(std::ceil(kBeyondCaches / work.bytes), 1.0, kMostInputSets));
}

}  // namespace

conformance::Run& OperandSets::prepare(const Job& job) {
  const KernelOptions options{.variant = job.variant, .tuning = job.tuning};
  are_new_ = sets_.empty() || device_ != job.device || problem_ != job.problem;
  if (are_new_) {
    forget();
    sets_.push_back(job.problem->prepare(job.device->device, options));
    device_ = job.device;
    problem_ = job.problem;
  } else {
    sets_.front()->change_kernel(job.device->device, options);
  }
  turn_ = 0;
  return *sets_.front();
}

std::size_t OperandSets::complete(const conformance::Work& work, Queue& queue) {
  for (std::size_t i = 1; i < sets_.size(); ++i) {
    sets_[i]->share_kernel(*sets_.front());
    sets_[i]->make_ready(queue);  // what a kernel needs once is no part of a run
  }
  while (sets_.size() < sets_for(work)) {
    sets_.push_back(sets_.front()->twin(device_->device));
    sets_.back()->reset(queue);
  }
  return sets_.size();
}

void OperandSets::enqueue(Queue& queue) {
  sets_[turn_++ % sets_.size()]->enqueue(queue);
}

void OperandSets::forget() {
  sets_.clear();
  device_ = nullptr;
  problem_ = nullptr;
}

}  // namespace tessera::tool
