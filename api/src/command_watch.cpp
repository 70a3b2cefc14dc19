// Names commands for those who watch.
#include "command_watch.h"

#include "backend/sentence.h"
#include "device_core.h"
#include "json_text.h"
#include "kernel_core.h"
#include "log_events.h"
#include "watch.h"

namespace tessera::detail {
namespace {

using backend::sentence;

const char* category_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::run:
    case CommandKind::prepare: return "kernel";
    case CommandKind::upload:
    case CommandKind::download:
    case CommandKind::bring:
    case CommandKind::copy: return "copy";
    case CommandKind::fill: return "fill";
    case CommandKind::wait: return "wait";
  }
  return "";
}

/// On the queue's line in the trace.
std::string name_of(const Command& command) {
  const std::string subject = command.subject != nullptr ? *command.subject : std::string();
  switch (command.kind) {
    case CommandKind::run: return subject;
    case CommandKind::prepare: return "prepare weights of " + subject;
    case CommandKind::upload:
    case CommandKind::bring: return "upload";
    case CommandKind::download: return "download";
    case CommandKind::copy: return "copy";
    case CommandKind::fill: return "fill";
    case CommandKind::wait: return "wait for an event";
  }
  return subject;
}

std::string arguments_of(const Command& command, const KernelCore* kernel) {
  if (kernel == nullptr) return command.size_bytes == 0 ? "" : sentence("\"bytes\":", command.size_bytes);
  const KernelInfo& info = kernel->info();
  std::string arguments =
      sentence("\"operator\":", json_quoted(info.operator_name), ",\"variant\":", json_quoted(info.variant));
  if (!info.label.empty()) arguments += ",\"label\":" + json_quoted(info.label);
  if (!kernel->problem().empty()) arguments += ",\"problem\":" + json_quoted(kernel->problem());
  const char* separator = ",\"tuning\":{";
  for (const auto& [name, value] : info.tuning) {
    arguments += sentence(separator, json_quoted(name), ":", value);
    separator = ",";
  }
  return arguments + (info.tuning.empty() ? "" : "}");
}

}  // namespace

CommandWatch::CommandWatch(const DeviceCore& device, const std::string& label, QueueTrack* track, backend::Queue& queue,
                           const Command& command, const KernelCore* kernel)
    : device_(device),
      label_(label),
      track_(track),
      kind_(command.kind),
      size_bytes_(command.size_bytes),
      making_(device.id()) {
  if (is_watched(kWatchCalls)) span_.emplace(words_of(command));
  if (track_ != nullptr) {
    track_->begin(queue, name_of(command), category_of(command.kind), arguments_of(command, kernel));
  }
}

void CommandWatch::queued(backend::Queue& queue, bool has_taken) noexcept {
  if (track_ != nullptr) track_->end(queue, has_taken);
  has_taken_ = has_taken;
}

void CommandWatch::tell() noexcept {
  span_.reset();
  if (!has_taken_ || !is_logged(LogKind::copy)) return;
  switch (kind_) {
    case CommandKind::upload:
    case CommandKind::bring: return log_transfer(LogAction::upload, device_.id(), label_, size_bytes_);
    case CommandKind::download: return log_transfer(LogAction::download, device_.id(), label_, size_bytes_);
    case CommandKind::copy: return log_transfer(LogAction::copy, device_.id(), label_, size_bytes_);
    default: return;
  }
}

}  // namespace tessera::detail
