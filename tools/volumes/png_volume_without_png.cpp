// What stands for PNG images in a build without libpng: a sentence.
#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/volumes/png_volume.h"

namespace tessera::tool {

namespace {
constexpr const char* kWithout =
    "but this program was built without libpng; install it (Debian and Ubuntu: libpng-dev) and build again";
}  // namespace

std::unique_ptr<VolumeFile> open_png_volume(std::unique_ptr<InputFile> file, std::int64_t /*most_pixels*/) {
  throw Error(ErrorCode::unavailable, fmt::format("{} is PNG, {}", file->name(), kWithout));
}

void write_png(const std::string& path, std::int64_t /*width*/, std::int64_t /*height*/,
               const std::vector<std::uint8_t>& /*pixels*/) {
  throw Error(ErrorCode::unavailable, fmt::format("'{}' is to be PNG, {}", path, kWithout));
}

}  // namespace tessera::tool
