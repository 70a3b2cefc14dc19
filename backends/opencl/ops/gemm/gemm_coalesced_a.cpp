// gemm, coalesced_a: tiles of A in local memory, B from global memory, the tiles' edge a tunable. See coalesced_a.cl.
#include "ops/gemm/gemm_square_tiles.h"
#include "ops/gemm/gemm_variants.h"

extern "C" const unsigned char tessera_opencl_gemm_coalesced_a[];
extern "C" const unsigned long tessera_opencl_gemm_coalesced_a_size;

namespace tessera::opencl {

namespace {

/// The same preferred tiles as those of "tiled", because both read A in the same way.
SquareTiles kernel() {
  return {
      .kernel = "gemm_coalesced_a",
      .text = {reinterpret_cast<const char*>(tessera_opencl_gemm_coalesced_a), tessera_opencl_gemm_coalesced_a_size},
      .operands = 1,
      .wanted = 16,
      .wanted_of_gpu = 32};
}

}  // namespace

backend::Variant<Gemm> gemm_coalesced_a() {
  return {.name = "coalesced_a",
          .summary = "square tiles of A in local memory, B read from global memory, one work-item an element of C",
          .check = [](const Gemm& problem,
                      const backend::Device& device) { return check_square_tiles(kernel(), problem, native(device)); },
          .tunables =
              [](const Gemm& problem, const backend::Device& device) {
                return tunables_of_square_tiles(kernel(), problem, native(device));
              },
          .make =
              [](const Gemm& problem, backend::Device& device, const Tuning& tuning) {
                return make_square_tiles(kernel(), problem, native(device), tuning.at("tile"));
              }};
}

}  // namespace tessera::opencl
