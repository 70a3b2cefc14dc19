// Tunes one problem on one device: searches, lets the fastest meet the default by turns, and keeps what won.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/output/result_file.h"
#include "tools/selection.h"
#include "tools/tune/duel.h"
#include "tools/tune/search.h"

namespace tessera::tool {

enum class TuneStatus : std::uint8_t {
  faster,      ///< a candidate beat the default beyond the spread
  not_faster,  ///< none did
  undecided,   ///< there was no time to find out
  failed,      ///< no candidate is right, or none could be measured
};
[[nodiscard]] std::string_view to_string(TuneStatus status) noexcept;

struct TuneOutcome {
  Job place;
  TuneStatus status = TuneStatus::failed;
  std::string reason;  ///< why it is undecided or failed; "" otherwise
  std::string shape_class;
  SearchResult search;
  std::string default_variant;
  std::optional<Candidate> best;  ///< the winner, or the default where nothing is faster
  double best_s = 0;
  double default_s = 0;  ///< 0: its result is wrong, or it failed
  Statistics ratio;      ///< of the winner's times to the default's, where both were measured
  bool is_kept = false;
  std::vector<std::string> notes;

  /// Wrong and failing candidates.
  [[nodiscard]] std::vector<const Trial*> rejected() const;
};

struct TuneLimits {
  double budget_s = 60;
  bool keeps = true;  ///< writes what was found
};

/// Told before each candidate: what is tried, and the seconds since the beginning.
using TellProgress = std::function<void(double elapsed_s, std::string_view doing)>;

/// `place` names device, operator and problem. At Ctrl-C the search ends, and what it found is confirmed and kept; the
/// caller asks is_interrupted(). Errors of keeping pass; all others become a status.
[[nodiscard]] TuneOutcome tune(const Job& place, const TuneLimits& limits, const TellProgress& tell);

}  // namespace tessera::tool
