// What stands for TIFF in a build without libtiff: a sentence.
#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/volumes/tiff_volume.h"

namespace tessera::tool {

namespace {
constexpr const char* kWithout =
    "but this program was built without libtiff; install it (Debian and Ubuntu: libtiff-dev) and build again";
}  // namespace

std::unique_ptr<VolumeFile> open_tiff_volume(std::unique_ptr<InputFile> file) {
  throw Error(ErrorCode::unavailable, fmt::format("{} is TIFF, {}", file->name(), kWithout));
}

std::unique_ptr<VolumeWriter> create_tiff_volume(const std::string& path, DataType /*type*/, const PerAxis& /*size*/) {
  throw Error(ErrorCode::unavailable, fmt::format("'{}' is to be TIFF, {}", path, kWithout));
}

}  // namespace tessera::tool
