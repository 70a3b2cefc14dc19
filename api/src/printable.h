// Names that come from outside (files, plug-ins, the loader) as they may stand in a message and on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tessera::detail {

/// Control characters as "\x1b", a line's end among them; everything else as it is.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace tessera::detail
