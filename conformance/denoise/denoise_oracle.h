// What denoise must give, from its definition (docs/decisions/0019): plain loops over the whole volume that nobody
// optimises and that share no code with any backend. Stacks are those of patch_match's oracle.
//
// Its formulas are compiled twice. In float they follow the definition operation by operation (this folder is compiled
// with -ffp-contract=off), so that every bit of a result is known. In double, on the same stacks, they say how far the
// definition's roundings take it from what it approximates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::conformance {

/// The volume after the problem's steps, bit for bit. `basic` is empty but for the stage wiener. Of a part of a volume
/// of floats `largest_beside` is the largest finite magnitude of the whole, which decides how it is scaled.
template <class T>
[[nodiscard]] std::vector<T> expected_denoise(const Denoise& problem, std::span<const T> volume,
                                              std::span<const T> basic, float largest_beside = 0);

/// The weighted means of the problem's one step, hard_threshold or wiener, in units of voxels and not rounded to any,
/// channel after channel of those that are filtered; NaN where no stack reaches. In the definition's float32, or all in
/// double.
template <class T>
[[nodiscard]] std::vector<double> expected_means(const Denoise& problem, std::span<const T> volume,
                                                 std::span<const T> basic, bool in_double);

extern template std::vector<std::uint8_t> expected_denoise(const Denoise&, std::span<const std::uint8_t>,
                                                           std::span<const std::uint8_t>, float);
extern template std::vector<std::uint16_t> expected_denoise(const Denoise&, std::span<const std::uint16_t>,
                                                            std::span<const std::uint16_t>, float);
extern template std::vector<float> expected_denoise(const Denoise&, std::span<const float>, std::span<const float>,
                                                    float);
extern template std::vector<double> expected_means(const Denoise&, std::span<const float>, std::span<const float>,
                                                   bool);

}  // namespace tessera::conformance
