// Other people's libraries that a run is compared with: which of them this machine lacks, and how to get them.
#pragma once

#include <string>
#include <vector>

#include "tools/input/json_reading.h"
#include "tools/selection.h"

namespace tessera::tool {

struct MissingPeer {
  std::string variant;               ///< "vendor_openblas"
  std::vector<std::string> devices;  ///< those whose backend would use it
  std::string because;               ///< as explain() says
  std::string remedy;                ///< "apt-get install libopenblas0-pthread"; "" where none is known
};

/// Of the operators and devices of these jobs: the peers that explain() lets do no case of the standard set, by the
/// variant's name.
[[nodiscard]] std::vector<MissingPeer> missing_peers(const std::vector<Job>& jobs);

/// One line, or "" if none is missing.
[[nodiscard]] std::string missing_peers_line(const std::vector<MissingPeer>& peers);

[[nodiscard]] Json to_json(const std::vector<MissingPeer>& peers);

}  // namespace tessera::tool
