// Trying one candidate: right at the problem and at odd sizes beside it, and only then how fast.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/bench/benchmark.h"
#include "tools/selection.h"
#include "tools/tune/candidate.h"

namespace tessera::tool {

/// Tries the candidates of one problem on one device, on the same operands. `place` names both.
class Trials {
 public:
  explicit Trials(const Job& place);

  /// `most_s`: what a run that is slow may take. Every tessera::Error becomes a status with its sentence; Interrupted
  /// passes.
  [[nodiscard]] Trial run(const Candidate& candidate, double most_s);

  /// Gives all operands back.
  void forget_operands();

  /// Why there is an odd size at which nothing is checked, one sentence each.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  /// A problem beside the one that is tuned, and how it is run.
  struct Neighbour {
    std::unique_ptr<conformance::Case> problem;
    std::vector<VariantReport> reports;
    std::unique_ptr<conformance::Run> run;  ///< null before the first candidate, and behind one that failed
  };

  /// False if the candidate is no good, which `trial` then tells.
  bool check_beside(Neighbour& neighbour, Trial& trial);
  [[nodiscard]] bool allows_beside(const Neighbour& neighbour, const Candidate& candidate) const;

  Job place_;
  std::vector<Neighbour> neighbours_;
  std::vector<std::string> notes_;
  Benchmark benchmark_;
};

}  // namespace tessera::tool
