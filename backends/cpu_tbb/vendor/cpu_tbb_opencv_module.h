// What lies between the plug-in and its module for OpenCV, a shared library of ours.
//
// OpenCV has a C++ interface alone, which cannot be looked up by name when the program runs as those of other vendors
// are. So the module is linked with OpenCV, the plug-in opens the module if it is there, and these functions are all
// that passes between them. Nothing is thrown through them.
#pragma once

#include <cstddef>

namespace tessera::cpu_tbb {

/// Beside the plug-in. Called otherwise than a plug-in, "libtessera_*.so", so that it is not taken for one.
inline constexpr const char* kOpencvModuleFile = "tessera_cpu_tbb_opencv.so";
/// Goes up whenever something in this file changes.
inline constexpr int kOpencvModuleVersion = 1;

/// What became of a call. The values are part of the interface.
enum class OpencvOutcome : int { done = 0, out_of_memory = 1, failed = 2 };

/// Where the module writes one sentence if a call is not done: cut off at `size` bytes, the closing 0 among them.
struct OpencvReason {
  char* text;
  std::size_t size;
};

/// Rows of the output of one float image, and all that they depend on. Rows are packed.
struct OpencvStrip {
  const float* image;
  int image_rows;
  int image_columns;
  float* output;  ///< of the strip's first row
  int first_row;  ///< of the image, where the anchor lies for the strip's first row; columns begin with 0
  int rows;
  int columns;
  const float* weights;
  int filter_rows;
  int filter_columns;
  int anchor_row;
  int anchor_column;
};

extern "C" {
/// failed unless the module speaks this version, and the process has the OpenCV that the module was compiled for.
OpencvOutcome tessera_opencv_check(int version, OpencvReason reason) noexcept;
/// cv::filter2D on the calling thread, with zeros around the image.
OpencvOutcome tessera_opencv_filter2d(const OpencvStrip* strip, OpencvReason reason) noexcept;
}

}  // namespace tessera::cpu_tbb
