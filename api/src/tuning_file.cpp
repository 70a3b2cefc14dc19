// The file is read through its folder's descriptor, as the cache's files are, and replaced under a lock.
#include "tuning_file.h"

#include <sys/stat.h>
#include <tessera/version.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>

#include "backend/sentence.h"
#include "environment.h"
#include "loaded_once.h"
#include "printable.h"
#include "private_folder.h"

namespace tessera::detail {
namespace {

constexpr const char* kTuningFolder = "tuning";
constexpr const char* kResultsName = "results.jsonl";
constexpr const char* kLockName = "lock";
constexpr std::size_t kMostBytesOfResults = std::size_t{16} << 20;
constexpr std::size_t kMostLines = 10000;
/// A writer holds the lock for some milliseconds.
constexpr double kLongestWait_s = 10;

bool is_tuning_on() {
  const auto word = environment_value("TESSERA_TUNING");
  if (!word || *word == "on") return true;
  if (*word == "off") return false;
  throw Error(ErrorCode::invalid_argument,
              backend::sentence("$TESSERA_TUNING is '", printable(*word), "', but must be on or off"));
}

LoadedOnce<TunedResults>& loaded_results() {
  static LoadedOnce<TunedResults> results;
  return results;
}

std::filesystem::path results_path(const std::filesystem::path& root) {
  return root.empty() ? root : root / kTuningFolder / kResultsName;
}

/// Nothing if the file is not there, or is not to be trusted.
std::optional<std::string> read_results(const PrivateFolder& folder) {
  if (!folder) return std::nullopt;
  const auto bytes = folder.read(kResultsName, kMostBytesOfResults, Untrusted::kept);
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

TunedResults load_results(const std::filesystem::path& root) {
  TunedResults results;
  results.path = results_path(root).string();
  struct stat facts = {};
  if (root.empty() || (::stat(results.path.c_str(), &facts) != 0 && (errno == ENOENT || errno == ENOTDIR)))
    return results;
  const auto text = read_results(PrivateFolder(root, kTuningFolder, /*makes=*/false));
  if (text) {
    results.table = TuningTable(*text);
  } else {
    results.refusal = backend::sentence(
        "it is not used: it and its two folders must be this user's own, no links, not writable by others, and it a "
        "regular file of at most ",
        kMostBytesOfResults, " bytes");
  }
  return results;
}

[[noreturn]] void refuse_storing(const std::string& why) {
  throw Error(ErrorCode::unavailable, backend::sentence("tuned values cannot be kept: ", why));
}

}  // namespace

const TunedResults& tuned_results() {
  static const TunedResults nothing;
  if (!is_tuning_on()) return nothing;
  const std::filesystem::path root = data_directory();
  return loaded_results().get(root.string(), [&](const std::string&) { return load_results(root); });
}

TuningKey tuning_key(std::string_view operator_name, const std::string& shape_class, const DeviceCore& device) {
  const DeviceInfo& info = device.info_when_opened();
  return {std::string(operator_name),
          fit_for_line(shape_class),
          fit_for_line(backend::sentence(info.backend, ", ", info.name, ", ", info.compute_units, " units, ",
                                         info.instruction_set)),
          fit_for_line(backend::sentence(info.driver, " ", info.driver_version)),
          std::string(version()),
          device.kernels_image()};
}

void store_tuning(const TuningKey& key, const std::vector<TuningLine>& lines) {
  const std::filesystem::path root = data_directory();
  if (root.empty())
    refuse_storing("none of $TESSERA_DATA_DIR, $XDG_DATA_HOME and $HOME says where, as an absolute path");
  if (key.kernels.empty())
    refuse_storing("the plug-in has no build id (it was linked without --build-id), so that they could outlive it");
  PrivateFolder folder(root, kTuningFolder, /*makes=*/true);
  const std::string place = printable(results_path(root).string());
  if (!folder)
    refuse_storing(backend::sentence("the folder of ", place,
                                     " cannot be made, is a link, belongs to another user, or can be written by the "
                                     "group or by others"));
  if (!folder.lock(kLockName, kLongestWait_s))
    refuse_storing(backend::sentence("the lock beside ", place, " is not to be had within ", kLongestWait_s, " s"));
  const std::optional<std::string> before = read_results(folder);
  if (struct stat facts = {}; !before && ::lstat(results_path(root).c_str(), &facts) == 0)
    refuse_storing(backend::sentence(place, " is there but not to be trusted: it must be a regular file of this user, ",
                                     "not writable by others, of at most ", kMostBytesOfResults, " bytes"));
  const std::string after = with_class_replaced(before.value_or(""), key, lines, kMostLines, kMostBytesOfResults);
  if (!folder.write(kResultsName, {std::as_bytes(std::span(after))}))
    refuse_storing(backend::sentence(place, " cannot be written: ", std::generic_category().message(errno)));
  if (!is_tuning_on()) return;
  TunedResults results;
  results.path = results_path(root).string();
  results.table = TuningTable(after);
  static_cast<void>(loaded_results().put(root.string(), std::move(results)));
}

}  // namespace tessera::detail
