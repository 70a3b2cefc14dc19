// AMX's tile registers, for the kernels that use them: where there are any, and how the processor is told their shapes.
// Whether this processor has them is has_amx() of cpu_tbb_instruction_set.h.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && defined(__linux__)
#define TESSERA_HAS_AMX_CODE
#endif

namespace tessera::cpu_tbb {

/// What tile registers hold, as the processor reads it. A register that is not used must have rows all the same.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t first_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileShapes) == 64);

inline constexpr int kTileRegisters = 8;
inline constexpr std::int64_t kTileRows = 16;      ///< of a whole register
inline constexpr std::int64_t kTileRowBytes = 64;  ///< likewise
inline constexpr std::int64_t kTileBytes = kTileRows * kTileRowBytes;

}  // namespace tessera::cpu_tbb
