// Commands in words.
#include "command.h"

#include "backend/sentence.h"

namespace tessera::detail {
namespace {

const char* verb_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::run: return "running ";
    case CommandKind::prepare: return "preparing weights of ";
    case CommandKind::upload: return "uploading ";
    case CommandKind::download: return "downloading ";
    case CommandKind::copy: return "copying ";
    case CommandKind::bring: return "copying from another device ";
    case CommandKind::fill: return "filling ";
    case CommandKind::wait: return "waiting for an event";
  }
  return "";
}

}  // namespace

std::string words_of(const Command& command) {
  if (command.subject != nullptr) return backend::sentence(verb_of(command.kind), *command.subject);
  if (command.size_bytes == 0) return verb_of(command.kind);
  return backend::sentence(verb_of(command.kind), command.size_bytes, " bytes");
}

}  // namespace tessera::detail
