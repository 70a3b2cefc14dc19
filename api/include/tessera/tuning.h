// Tuned values: what a search on this machine found to be faster than the defaults that ship, and what the machine's
// site file says. Device::kernel() uses both, explain() shows both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/device.h>
#include <tessera/export.h>
#include <tessera/kernel.h>

namespace tessera {

/// $TESSERA_DATA_DIR, or $XDG_DATA_HOME/tessera, or $HOME/.local/share/tessera; empty if none of them is set, and then
/// there are no tuned values. Does not create it. Error invalid_argument if $TESSERA_DATA_DIR is not an absolute path.
[[nodiscard]] TESSERA_API std::filesystem::path data_directory();

/// What became of a candidate: a variant with a tuning.
enum class TuningVerdict : std::uint8_t {
  faster,      ///< right, and faster than the default beyond the spread: kernel() takes it
  not_faster,  ///< the default itself: nothing was faster
  wrong,       ///< its result did not hold its bound
  failed,      ///< it could not be made or run
};
/// Name as the file writes it: "not_faster".
[[nodiscard]] TESSERA_API std::string_view to_string(TuningVerdict verdict) noexcept;

struct TuningRecord {
  TuningVerdict verdict = TuningVerdict::failed;
  std::string variant;
  Tuning tuning;
  double measured_s = 0;  ///< median device time of one run; 0 for what is wrong or failed
  std::string because;    ///< of what is wrong or failed: one sentence
};

/// What a search found for a problem on a device.
struct TuningResult {
  std::string default_variant;  ///< that kernel() takes without tuned values
  double default_s = 0;         ///< its time, measured beside the fastest's; 0 if its own result is wrong or it failed
  std::string problem;          ///< how a person writes it, for explain() to tell; "": the operator's own words
  /// At most one that is `faster` or `not_faster`, and all that are wrong or failed.
  std::vector<TuningRecord> records;
};

/// The class of shape that a problem belongs to: what is tuned for one serves all of its class. "type=float32,...,
/// m~1024,n~512": numbers behind a ~ are the nearest power of two. Error invalid_argument for a wrong problem.
template <class Problem>
[[nodiscard]] std::string shape_class(const Problem& problem);

/// Keeps the result for the problem's class of shape on this device, in place of what was kept for it before. Kernels
/// of this process and of later ones use it. Errors: invalid_argument for a result that names what the device does not
/// offer; unavailable if it cannot be written, with the reason.
template <class Problem>
void remember_tuning(const Problem& problem, const Device& device, const TuningResult& result);

/// The files behind kernel()'s choice, and what is wrong with them.
struct TuningFiles {
  std::string results;  ///< path of the tuned values; "" if there is no folder for them or $TESSERA_TUNING is off
  std::size_t entries = 0;
  std::string site;  ///< path of the site's file
  std::size_t rules = 0;
  /// One sentence for each line that was skipped, and for a file that is there and is not used.
  std::vector<std::string> complaints;
};

/// Errors: invalid_argument for a bad $TESSERA_TUNING, $TESSERA_DATA_DIR or $TESSERA_SITE_FILE, and for a site's file
/// with a line that is not right.
[[nodiscard]] TESSERA_API TuningFiles tuning_files();

}  // namespace tessera
