// Loading one plug-in: the file, the handshake, and the backend that it makes.
#pragma once

#include <filesystem>
#include <string>

#include "backend/backend.h"

namespace tessera::detail {

/// What came of loading a plug-in: its backend, or the sentence that says why it is refused.
struct LoadedPlugin {
  backend::Backend* backend = nullptr;
  std::string refusal;
  std::string build_id = {};  ///< of the plug-in's file, see plugin_image.h
};

/// Whatever the plug-in throws or answers is a refusal. It stays loaded either way. The sentence may hold what others
/// wrote, as it is: see printable().
[[nodiscard]] LoadedPlugin load_plugin(const std::filesystem::path& file);

/// What the exception that is being handled says; "something that is no std::exception" if it is none. To be called in
/// a catch clause.
[[nodiscard]] std::string words_of_exception();

/// Throws the exception that is being handled on if the process had no memory left: that passes, and must not be taken
/// for a backend's state. To be called in a catch clause.
void throw_if_memory_is_short();

}  // namespace tessera::detail
