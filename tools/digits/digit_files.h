// Sets of drawn digits as files: images and labels in MNIST's form and under its names, and a sheet of samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::tool {

struct DigitRequest {
  std::string folder;
  std::int64_t training_images = 60000;
  std::int64_t test_images = 10000;
  std::uint64_t seed = 1;
  bool packs = false;     ///< with gzip
  bool replaces = false;  ///< files that are there
};

/// Writes them all, or none where something fails before the last image is drawn. The folder is made if it is not
/// there, and goes again if that fails. Returns the paths: training images and labels, test images and labels, and the
/// sheet if there is one. Errors: invalid_argument for what is there or cannot be written; Interrupted.
std::vector<std::string> write_digits(const DigitRequest& request);

}  // namespace tessera::tool
