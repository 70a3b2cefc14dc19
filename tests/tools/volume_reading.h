// Reading a file of volumes to its end and writing it anew, or the sentence with which that is refused.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tessera/error.h>

#include "table_reading.h"
#include "tools/volumes/volume_file.h"

namespace tessera::testing_support {

struct VolumeRead {
  tool::VolumeHead head;
  std::vector<tool::Voxels> volumes;
  std::string refusal;  ///< behind "the file '...' "; "" if nothing was refused
};

inline VolumeRead read_volume(const std::string& bytes) {
  const MemoryFile file(bytes);
  VolumeRead read;
  try {
    const auto volume = tool::open_volume(file.path());
    read.head = volume->head();
    for (std::int64_t frame = 0; frame < read.head.frames; ++frame) read.volumes.push_back(volume->read());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    const std::string start = "the file '" + file.path() + "' ";
    EXPECT_EQ(error.sentence().rfind(start, 0), 0U) << error.sentence();
    for (const char letter : error.sentence()) {
      EXPECT_TRUE(letter >= ' ' && letter != 0x7f) << "letter " << static_cast<int>(letter) << " in the sentence";
    }
    read.refusal = error.sentence().substr(std::min(start.size(), error.sentence().size()));
  }
  return read;
}

/// Why it is refused; "" if it is not.
inline std::string volume_refusal(const std::string& bytes) {
  return read_volume(bytes).refusal;
}

template <class T>
std::vector<T> numbers_of(const VolumeRead& read, std::size_t frame = 0) {
  EXPECT_EQ(read.refusal, "");
  if (read.volumes.size() <= frame) return {};
  const auto* const numbers = std::get_if<std::vector<T>>(&read.volumes[frame]);
  EXPECT_NE(numbers, nullptr) << "another type: " << read.volumes[frame].index();
  return numbers != nullptr ? *numbers : std::vector<T>{};
}

}  // namespace tessera::testing_support
