// Generates one test for every device present x variant x case, and one for every tuning value.
#pragma once

namespace tessera::testing_support {

/// Registers them with GoogleTest, named `gemm/cuda_0/tiled.float32_m17_n1_k33`; slow ones `gemm/cuda_0/tiled/slow.…`,
/// those with a tuning value `….float32_m33_n17_k31__tile_8`. Call after InitGoogleTest.
void register_operator_tests();

}  // namespace tessera::testing_support
