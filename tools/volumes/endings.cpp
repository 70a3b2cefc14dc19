// Endings of names.
#include "tools/volumes/endings.h"

#include <algorithm>

#include <fmt/format.h>
#include <tessera/error.h>

namespace tessera::tool {

namespace {

struct Ending {
  std::string_view letters;
  std::string_view format;
};
constexpr Ending kEndings[] = {{".png", kPng},   {".npy", kNpy},  {".nrrd", kNrrd},
                               {".nii", kNifti}, {".tif", kTiff}, {".tiff", kTiff}};
constexpr std::string_view kGzipEnding = ".gz";

std::string lower_case(std::string text) {
  const auto to_lower = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 'a' - 'A') : letter;
  };
  std::transform(text.begin(), text.end(), text.begin(), to_lower);
  return text;
}

}  // namespace

std::string_view format_of_ending(const std::string& path) {
  std::string name = lower_case(path);
  if (name.ends_with(kGzipEnding)) name.resize(name.size() - kGzipEnding.size());
  for (const Ending& ending : kEndings) {
    if (name.ends_with(ending.letters)) return ending.format;
  }
  return "";
}

bool is_packed_by_ending(const std::string& path, bool otherwise) {
  if (lower_case(path).ends_with(kGzipEnding)) return true;
  return format_of_ending(path).empty() && otherwise;
}

void refuse_other_ending(const std::string& path, std::string_view format, const std::string& input) {
  const std::string_view named = format_of_ending(path);
  if (named.empty() || named == format) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("'{}' has the ending of {}, but would be {} as {} is: formats are kept", path, named, format, input));
}

}  // namespace tessera::tool
