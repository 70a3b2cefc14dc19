// The program that reads memory or a cache as fast as a device can, in every language that backends take.
#pragma once

#include <tessera/tessera.h>

#include "tools/peaks/cpu_read.h"

namespace tessera::tool {

/// A kernel whose groups each read a piece of the input, or one piece after the other in turn: (input, output, bytes of
/// a piece, by how many pieces a group goes on each time, how often). A piece is a multiple of kReadPiece bytes. The
/// output has an element for each work-item.
struct ReadProgram {
  KernelSource source;
  LaunchShape shape;
};
[[nodiscard]] ReadProgram read_program(const DeviceInfo& info);

}  // namespace tessera::tool
