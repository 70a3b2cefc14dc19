// The environment variables of the library, read and checked in one place. A program that runs with rights that its
// caller has not (set-user-ID, file capabilities) finds none of them set: they name code to load and files to write.
#include "environment.h"

#include <tessera/cache.h>
#include <tessera/error.h>
#include <tessera/tuning.h>

#include <cstdlib>

#include "backend/sentence.h"
#include "printable.h"

namespace tessera {

using backend::sentence;
using detail::printable;

namespace detail {

std::optional<std::string> environment_value(const char* name) {
  const char* value = ::secure_getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<std::vector<std::string>> environment_list(const char* name, char separator) {
  const auto value = environment_value(name);
  if (!value) return std::nullopt;
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= value->size()) {
    const std::size_t stop = std::min(value->find(separator, start), value->size());
    if (stop > start) parts.push_back(value->substr(start, stop - start));
    start = stop + 1;
  }
  return parts;
}

std::vector<std::filesystem::path> backend_search_path() {
  std::vector<std::filesystem::path> folders;
  for (const std::string& part : environment_list("TESSERA_BACKEND_PATH", ':').value_or(std::vector<std::string>{})) {
    if (!std::filesystem::path(part).is_absolute()) {
      throw Error(ErrorCode::invalid_argument, sentence("$TESSERA_BACKEND_PATH names the folder '", printable(part),
                                                        "', but every folder in it must be an absolute path"));
    }
    folders.emplace_back(part);
  }
  return folders;
}

}  // namespace detail

namespace {

/// $own, or $xdg/tessera, or $HOME/in_home/tessera; empty if none of them is set.
std::filesystem::path user_folder(const char* own, const char* xdg, const std::filesystem::path& in_home) {
  if (const auto value = detail::environment_value(own)) {
    std::filesystem::path path(*value);
    if (!path.is_absolute()) {
      throw Error(ErrorCode::invalid_argument,
                  sentence("$", own, " is '", printable(*value), "', but must be an absolute path"));
    }
    return path;
  }
  if (const auto value = detail::environment_value(xdg)) {
    if (std::filesystem::path path(*value); path.is_absolute()) return path / "tessera";
  }
  if (const auto home = detail::environment_value("HOME")) {
    if (std::filesystem::path path(*home); path.is_absolute()) return path / in_home / "tessera";
  }
  return {};
}

}  // namespace

std::filesystem::path cache_directory() {
  return user_folder("TESSERA_CACHE_DIR", "XDG_CACHE_HOME", ".cache");
}

std::filesystem::path data_directory() {
  return user_folder("TESSERA_DATA_DIR", "XDG_DATA_HOME", ".local/share");
}

}  // namespace tessera
