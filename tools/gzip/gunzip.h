// Unpacking gzip while it is read, piece by piece: nothing is taken on the word of a head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tools/input/input_file.h"

namespace tessera::tool {

class Gunzip {
 public:
  /// Unpacks `file` from byte `begin`; the bytes `first` of that were read already. Error unavailable in a build
  /// without zlib.
  Gunzip(InputFile& file, std::span<const std::uint8_t> first, std::uint64_t begin = 0);
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip();

  /// How many of the next `size` unpacked bytes were read: fewer only at the end, at an error of the file or after
  /// Ctrl-C. Several packed parts behind one another are one. Error invalid_argument, with the place in the packed
  /// file, if it is damaged, cut off, or goes on with something else.
  [[nodiscard]] std::size_t read(std::uint8_t* target, std::size_t size);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::tool
