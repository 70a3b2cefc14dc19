// Sizes of patch_match's screen, which its host code and its kernels share: see patch_match_screen.h.
#pragma once

namespace tessera::mathematics {

/// Candidates along x that a thread compares at a time, at most, and rows of them.
inline constexpr int kPatchScreenLanes = 11;
inline constexpr int kPatchScreenFewerLanes = 8;
inline constexpr int kPatchScreenRows = 2;
/// Candidates that are listed beside those that a stack has places for.
inline constexpr int kPatchScreenSpare = 4;
/// Bits of a candidate's number in a listed key, at most.
inline constexpr int kPatchScreenNumberBits = 13;

}  // namespace tessera::mathematics
