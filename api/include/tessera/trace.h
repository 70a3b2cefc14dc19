// The trace: what queues did when, as a file that Perfetto and Chrome's chrome://tracing show. $TESSERA_TRACE=FILE
// writes one of a program as it is.
#pragma once

#include <filesystem>

#include <tessera/export.h>

namespace tessera {

/// Writes to `file` from now on: commands of every queue in the times of their device's events, and the host's calls.
/// What was queued before is not in it. The file is whole whenever the program ends, however it does, up to what was
/// not known to have ended then. A file that is there is overwritten. Every command is timed by two events, so that a
/// traced program is slower. Error invalid_argument if the file cannot be written, or if a trace is being written: by
/// this process, or by another one to this file.
TESSERA_API void start_trace(const std::filesystem::path& file);

/// Ends the trace. Commands that are not known to have ended, by Queue::finish() or an event, are left out. Happens by
/// itself when the program ends. Error invalid_argument if something could not be written. Nothing happens where no
/// trace is being written, as in a child process of fork(), which has no part in that of its parent.
TESSERA_API void stop_trace();

}  // namespace tessera
