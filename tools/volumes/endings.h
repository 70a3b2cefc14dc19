// What the ending of a file's name says about its format.
#pragma once

#include <string>
#include <string_view>

namespace tessera::tool {

inline constexpr std::string_view kPng = "PNG";
inline constexpr std::string_view kNpy = "NPY";
inline constexpr std::string_view kNrrd = "NRRD";
inline constexpr std::string_view kNifti = "NIfTI-1";
inline constexpr std::string_view kTiff = "TIFF";

/// The format that is usual for the ending, whatever its case, with or without ".gz"; "" if it is none of these.
[[nodiscard]] std::string_view format_of_ending(const std::string& path);
/// Does the ending say that the whole file is packed with gzip? `otherwise`, if it says nothing.
[[nodiscard]] bool is_packed_by_ending(const std::string& path, bool otherwise);
/// Error invalid_argument if the ending is another format's. `input` names the file whose format is kept.
void refuse_other_ending(const std::string& path, std::string_view format, const std::string& input);

}  // namespace tessera::tool
