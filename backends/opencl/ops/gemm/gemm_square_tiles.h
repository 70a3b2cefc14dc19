// What the variants with square tiles share: a tunable `tile`, one work-item an element, and the checks of both.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_processor_choice.h"

namespace tessera::opencl {

/// A kernel that is built with the option TILE and runs in groups of TILE x TILE work-items.
struct SquareTiles {
  const char* kernel;          ///< the kernel function, and the name in errors
  std::string_view text;       ///< of its file
  std::int64_t operands;       ///< how many have a tile in local memory
  std::int64_t wanted;         ///< the preferred tile
  std::int64_t wanted_of_gpu;  ///< the same on a GPU
};

[[nodiscard]] backend::Verdict check_square_tiles(const SquareTiles& kernel, const Gemm& problem,
                                                  const OpenclDevice& device);
[[nodiscard]] std::vector<Tunable> tunables_of_square_tiles(const SquareTiles& kernel, const Gemm& problem,
                                                            const OpenclDevice& device);
[[nodiscard]] std::unique_ptr<backend::Kernel> make_square_tiles(const SquareTiles& kernel, const Gemm& problem,
                                                                 const OpenclDevice& device, std::int64_t tile);

/// The row of such a kernel.
template <SquareTiles (*kernel)()>
[[nodiscard]] backend::Variant<Gemm> square_tiles_variant(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .check = [](const Gemm& problem,
                      const backend::Device& device) { return check_square_tiles(kernel(), problem, native(device)); },
          .tunables =
              [](const Gemm& problem, const backend::Device& device) {
                return tunables_of_square_tiles(kernel(), problem, native(device));
              },
          .make =
              [](const Gemm& problem, backend::Device& device, const Tuning& tuning) {
                return make_square_tiles(kernel(), problem, native(device), tuning.at("tile"));
              },
          .pays = square_tiles_pay};
}

}  // namespace tessera::opencl
