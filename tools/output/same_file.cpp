// One file under two names.
#include "tools/output/same_file.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <tessera/error.h>

namespace tessera::tool {

void refuse_same_file(const std::string& input, const std::string& output, const std::string& what) {
  std::error_code one_is_missing;
  if (input == "-" || output == "-" || !std::filesystem::equivalent(input, output, one_is_missing)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} '{}' would be replaced by its own output; --force allows it", what, input));
}

}  // namespace tessera::tool
