// gemm, coalesced_a: tiles of A in local memory, B from global memory, the tiles' edge a tunable. See
// gemm_coalesced_a.cl.
#include "opencl_embedded.h"
#include "ops/gemm/gemm_square_tiles.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

namespace {

/// The same preferred tiles as those of "tiled", because both read A in the same way.
SquareTiles kernel() {
  return {.kernel = "gemm_coalesced_a",
          .text = embedded::gemm_coalesced_a,
          .operands = 1,
          .wanted = 16,
          .wanted_of_gpu = 32};
}

}  // namespace

backend::Variant<Gemm> gemm_coalesced_a() {
  return square_tiles_variant<kernel>(
      "coalesced_a", "square tiles of A in local memory, B read from global memory, one work-item an element of C");
}

}  // namespace tessera::opencl
