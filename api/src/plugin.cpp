// The handshake: versions and fingerprints are compared before the plug-in's backend is made, because its objects may
// look otherwise than this library's.
#include "plugin.h"

#include <tessera/version.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "backend/shared_library.h"
#include "boundary.h"
#include "plugin_file.h"
#include "plugin_image.h"

namespace tessera::detail {
namespace {

using backend::enumerate;
using backend::sentence;

LoadedPlugin refused(std::string because) {
  return {nullptr, std::move(because), {}};
}

std::string text_or(const char* text, const char* otherwise) {
  return text != nullptr ? text : otherwise;
}

std::vector<std::string_view> parts_of(std::string_view fingerprint) {
  std::vector<std::string_view> parts;
  while (!fingerprint.empty()) {
    const std::string_view part = fingerprint.substr(0, fingerprint.find(", "));
    parts.push_back(part);
    fingerprint.remove_prefix(std::min(fingerprint.size(), part.size() + 2));
  }
  return parts;
}

/// The parts of the first fingerprint that the second one does not have.
std::string only_in(std::string_view first, std::string_view second) {
  const std::vector<std::string_view> others = parts_of(second);
  std::vector<std::string_view> alone;
  for (const std::string_view part : parts_of(first)) {
    if (std::find(others.begin(), others.end(), part) == others.end()) alone.push_back(part);
  }
  return enumerate(alone, "nothing else");
}

/// "" if the plug-in was built as this library was.
std::string why_no_handshake(const backend::PluginEntry& entry) {
  const std::string their_library = text_or(entry.tessera_version, "of unknown version");
  if (entry.seam_version != backend::kSeamVersion) {
    return sentence("the plug-in speaks version ", entry.seam_version, " of the seam (library ", their_library,
                    "), but this library speaks version ", backend::kSeamVersion, " (library ", TESSERA_VERSION, ")");
  }
  if (their_library != TESSERA_VERSION) {
    return sentence("the plug-in was built for library ", their_library, ", but this is library ", TESSERA_VERSION);
  }
  static constexpr auto kOurs = backend::plugin_fingerprint();
  const std::string_view ours(kOurs.text.data());
  const std::string theirs = text_or(entry.fingerprint, "");
  if (theirs != ours) {
    return sentence("the plug-in was built otherwise than this library: with ", only_in(theirs, ours),
                    ", but the library with ", only_in(ours, theirs));
  }
  return {};
}

}  // namespace

std::string words_of_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

void throw_if_memory_is_short() {
  const Error error = current_error();
  // An error with a driver's words is about a card's memory: that is the backend's state, and no reason to ask again.
  if (error.code() == ErrorCode::out_of_memory && error.native().text.empty()) throw Error(error);
}

LoadedPlugin load_plugin(const std::filesystem::path& file) {
  const std::string name = file.string();
  if (const std::string why = why_not_loadable(file); !why.empty()) return refused(sentence(name, " ", why));
  const backend::SharedLibrary library({file.string()});
  if (!library) return refused(sentence("the plug-in does not load: ", library.why()));
  backend::PluginEntry (*entry_function)(std::uint32_t) = nullptr;
  if (!library.function(entry_function, "tessera_backend_entry")) {
    return refused(sentence(name, " is no plug-in: it has no symbol tessera_backend_entry"));
  }
  const char* doing = "the plug-in's entry";
  try {
    const backend::PluginEntry entry = entry_function(backend::kSeamVersion);
    if (std::string why = why_no_handshake(entry); !why.empty()) return refused(std::move(why));
    doing = "making its backend";
    backend::Backend* const backend = entry.make != nullptr ? entry.make() : nullptr;
    if (backend == nullptr) return refused("the plug-in makes no backend");
    return {backend, {}, build_id_of(reinterpret_cast<const void*>(entry.make))};
  } catch (...) {
    throw_if_memory_is_short();
    return refused(sentence(doing, " throws: ", words_of_exception()));
  }
}

}  // namespace tessera::detail
