// A candidate of the search: a variant with a value for each of its tunables; and the steps from one to the next.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::tool {

struct Candidate {
  std::string variant;
  Tuning tuning;  ///< every tunable

  bool operator==(const Candidate&) const = default;
  auto operator<=>(const Candidate&) const = default;
};

/// "tiled tile=8 vector_width=4"
[[nodiscard]] std::string to_string(const Candidate& candidate);

/// What became of one.
enum class TrialStatus : std::uint8_t {
  right,    ///< right at every shape that it was checked at, and measured
  wrong,    ///< a result did not hold its bound, or changed from run to run
  failed,   ///< it threw an error
  skipped,  ///< it takes more memory than there is, or more time than is left
};
[[nodiscard]] std::string_view to_string(TrialStatus status) noexcept;

struct Trial {
  Candidate candidate;
  TrialStatus status = TrialStatus::failed;
  std::string reason;             ///< if it is not right: one sentence
  double seconds = 0;             ///< of one run, the median; of what is right
  double spread = 0;              ///< interquartile range over the median
  std::vector<std::string> at{};  ///< the shapes, by their cases' names, at which it was right
};

/// A variant with what it leaves open for the problem.
struct OpenVariant {
  std::string name;
  std::vector<Tunable> tunables;
};

/// Every tunable as it is preferred.
[[nodiscard]] Candidate preferred_of(const OpenVariant& variant);

/// How many directions there are to change a candidate in: each tunable that has a choice is one, two that are paired
/// are one together.
[[nodiscard]] std::size_t directions(const OpenVariant& variant);
/// The candidates in one direction from this one, in the order of the values, itself not among them. All exist.
[[nodiscard]] std::vector<Candidate> along(const OpenVariant& variant, const Candidate& from, std::size_t direction);

/// Does the report allow the candidate: can the variant run, with these values?
[[nodiscard]] bool allows(const VariantReport& report, const Tuning& tuning);

}  // namespace tessera::tool
