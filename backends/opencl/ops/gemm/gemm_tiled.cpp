// gemm, tiled: square tiles of A and B in local memory, their edge a tunable. See gemm_tiled.cl.
#include "opencl_embedded.h"
#include "ops/gemm/gemm_square_tiles.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

namespace {

/// Tiles of 32 are fastest on an H200 (float32, 2048^3: 7140 GFLOP/s, 6490 with 16), tiles of 16 on PoCL 3.1 (256^3 on
/// two cores: 4.8 GFLOP/s, 1.6 with 32).
SquareTiles kernel() {
  return {.kernel = "gemm_tiled", .text = embedded::gemm_tiled, .operands = 2, .wanted = 16, .wanted_of_gpu = 32};
}

}  // namespace

backend::Variant<Gemm> gemm_tiled() {
  return square_tiles_variant<kernel>("tiled",
                                      "square tiles of A and B in local memory, one work-item an element of C");
}

}  // namespace tessera::opencl
