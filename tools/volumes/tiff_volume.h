// Pages of a TIFF file as the planes of a volume.
#pragma once

#include <memory>
#include <string>

#include "tools/input/input_file.h"
#include "tools/volumes/volume_file.h"

namespace tessera::tool {

/// Of a file of which nothing was read; a regular one, because pages stand in it in any order. Error unavailable in a
/// build without libtiff.
[[nodiscard]] std::unique_ptr<VolumeFile> open_tiff_volume(std::unique_ptr<InputFile> file);

/// A new file, a page a plane. Errors as OutputFile's, and as above.
[[nodiscard]] std::unique_ptr<VolumeWriter> create_tiff_volume(const std::string& path, DataType type,
                                                               const PerAxis& size);

}  // namespace tessera::tool
