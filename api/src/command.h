// What a command of a queue does: put into words if it fails, and told to those who watch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tessera::detail {

enum class CommandKind : std::uint8_t { run, prepare, upload, download, copy, fill, wait };

struct Command {
  const char* verb = "";                         ///< "running ", "uploading "
  std::shared_ptr<const std::string> subject{};  ///< a kernel's description; null: `size_bytes` bytes, if not 0
  std::size_t size_bytes = 0;
  CommandKind kind = CommandKind::run;
};

}  // namespace tessera::detail
