// A filter as a person gives it to `tessera convolve`: weights, and what becomes of the sums by default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::tool {

struct ImageFilter {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<double> weights;  ///< height x width, row by row, all finite
  bool divides_by_sum = false;  ///< by default; otherwise by 1
  bool takes_absolute = false;  ///< by default: the sum's size without its sign

  [[nodiscard]] double sum() const;
};

/// A weight's largest size: beyond it a filter file is refused.
constexpr double kLargestWeight = 1e9;

/// What --help and messages say there is.
[[nodiscard]] std::string_view named_filters();

/// "gaussian:5", "box:7", "sobel-x", ..., or else the path of a file. UsageError if it is neither a name nor a file, or
/// the size behind the name is wrong; Error invalid_argument, with the line, for what stands in the file.
[[nodiscard]] ImageFilter find_filter(const std::string& spec);

/// A file of weights: one row a line, numbers apart by blanks or commas, # opens a comment. Errors as above.
[[nodiscard]] ImageFilter read_filter_file(const std::string& path);

/// The same from its text; `name` is what messages call it.
[[nodiscard]] ImageFilter parse_filter(std::string_view text, const std::string& name);

}  // namespace tessera::tool
