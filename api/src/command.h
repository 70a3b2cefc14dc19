// What a command of a queue does: put into words if it fails, and told to those who watch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tessera::detail {

enum class CommandKind : std::uint8_t {
  run,
  prepare,  ///< weights
  upload,
  download,
  copy,
  bring,  ///< from another device: an upload to this one
  fill,
  wait,  ///< for another queue's event
};

/// Small, because a queue keeps the last thousand of them, and writes one for each command.
struct Command {
  CommandKind kind = CommandKind::run;
  std::shared_ptr<const std::string> subject{};  ///< a kernel's description; null: `size_bytes` bytes, if not 0
  std::size_t size_bytes = 0;
};

/// "running gemm (tiled)", "uploading 16 bytes"
[[nodiscard]] std::string words_of(const Command& command);

}  // namespace tessera::detail
