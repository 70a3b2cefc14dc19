// Whether a command would replace the file that it reads.
#pragma once

#include <string>

namespace tessera::tool {

/// Error invalid_argument if both paths lead to one file, in any way. `what` names it in the message: "the image". "-"
/// is no file.
void refuse_same_file(const std::string& input, const std::string& output, const std::string& what);

}  // namespace tessera::tool
