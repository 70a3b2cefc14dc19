# The OpenCL kernels under Oclgrind's race and bounds checking, on a few small cases of every variant and tuning value.
if(NOT "opencl" IN_LIST TESSERA_TEST_BACKENDS)
  return()
endif()

set(under_oclgrind "${CMAKE_CURRENT_SOURCE_DIR}/run_under_oclgrind.sh")

# tessera_oclgrind_operator(<op> <filters...>): the operator's cases that the filters name must be clean.
function(tessera_oclgrind_operator operator)
  list(JOIN ARGN ":" filter)
  tessera_add_test_entry(conformance.oclgrind.${operator}
    COMMAND "${under_oclgrind}" clean "${CMAKE_CURRENT_BINARY_DIR}/oclgrind_${operator}.log"
      $<TARGET_FILE:tessera_conformance_test> --backend=opencl --gtest_filter=${filter}
    LABELS conformance oclgrind backend:opencl op:${operator}
    TIMEOUT 900)
endfunction()

tessera_oclgrind_operator(gemm
  "gemm/opencl_0/*.float32_m33_n17_k31"
  "gemm/opencl_0/*.float32_m33_n17_k31__*"
  "gemm/opencl_0/*.float32_m33_n17_k31_ta"
  "gemm/opencl_0/*.float32_m33_n17_k31_tb"
  "gemm/opencl_0/*.float64_m33_n17_k31_ta_tb"
  "gemm/opencl_0/*.float64_m18_n21_k35*"
  "gemm/opencl_0/*.float*_m19_n23_k29_alpham0p5*"
  "gemm/opencl_0/*.float*_m5_n7_k0*"
  "gemm/opencl_0/*.float32_m1_n1_k1"
  "gemm/opencl_0/*.float32_m2_n257_k131"
  "gemm/opencl_0/thin.float32_m7_n61_k259_*"
  "gemm/opencl_0/thin.float64_m70_n5_k69_*"
  # Transposes of A and of B are read by code of their own: every tuning value meets neither and both.
  "-*split_k_2_*" "*split_k_8_*" "*split_k_16_*"
  "*.float64_m18_n21_k35_ta_alpha*__*" "*.float64_m18_n21_k35_tb_alpha*__*")

tessera_oclgrind_operator(cnn_layer
  "cnn_layer/opencl_0/implicit_gemm_*.float32_c5_o9_h13_w15_f7x7__split_k_2_tile_m_32"
  "cnn_layer/opencl_0/implicit_gemm_local.float32_c5_o9_h13_w15_f7x7__split_k_1_tile_m_64"
  "cnn_layer/opencl_0/subtile.float32_c5_o9_h13_w15_f7x7__*_0"
  "cnn_layer/opencl_0/winograd.float32_c5_o1_h9_w8_f3x3_fast"
  "cnn_layer/opencl_0/winograd.float32_c6_o10_h8_w8_f5x5_fast"
  "cnn_layer/opencl_0/winograd.float64_c24_o4_h18_w18_f3x3_no_relu_outlier_at_1"
  "cnn_layer/opencl_0/*.float32_c5_o11_h13_w10_f5x5_pad2_pool2_nhwc"
  "cnn_layer/opencl_0/*.float64_c4_o18_h5_w5_f3x3_pool3")

tessera_oclgrind_operator(conv2d
  "conv2d/opencl_0/*.int32_h45_w77_f7x7_same_rank1__rows_per_run_16_*"
  "conv2d/opencl_0/*.float32_h45_w77_f7x7_valid_rank1__rows_per_run_32_*"
  "conv2d/opencl_0/*.uint8_h20_w132_f3x3_same*_by1"
  "conv2d/opencl_0/*.float32_h20_w132_f3x3_same*_by3"
  "conv2d/opencl_0/register_tiled.uint8_h37_w141_f17x17_same_filters"
  "conv2d/opencl_0/separable_passes.float32_h34_w131_f9x34_same_filters_rank1"
  "conv2d/opencl_0/separable_passes.uint8_h530_w21_f10x9_same_filters_rank1__rows_per_run_64_strip_64")

# Oclgrind's device is a GPU, so that "unrolled" is tried here; on processors it is not offered.
tessera_oclgrind_operator(denoise
  "denoise/opencl_0/*.float32_9x13x1_sigma0p1_*"
  "denoise/opencl_0/*.uint16_8x13x1_sigma6553p5_*"
  "denoise/opencl_0/fused.uint8_14x11x9_sigma25p5_fast"
  "denoise/opencl_0/fused.uint8_12x9x7_*_all__columns_1_slab_1_unrolled_0"
  "denoise/opencl_0/*.uint8_23x18x30_*_sparse__*slab_2*")

# The order m and the kind of distance change values alone, no access.
tessera_oclgrind_operator(kernel_regression
  "kernel_regression/opencl_0/*.*_n17_d19_q5_*"
  "kernel_regression/opencl_0/exact_bytes.uint8_n300_d67_q70_*_votes4_*"
  "kernel_regression/opencl_0/fused.float32_n300_d67_q70_m1_votes4_*"
  "kernel_regression/opencl_0/fused.float64_n300_d67_q70_m1_nearest_*")

tessera_oclgrind_operator(nonlocal_means
  "nonlocal_means/opencl_0/*.*_9x13x1_*"
  "nonlocal_means/opencl_0/*.float32_2x1x3_*"
  "nonlocal_means/opencl_0/*.uint16_1x1x1_*")

# Its device is a GPU: groups of 256 work-items, whose sums pass through local memory.
tessera_oclgrind_operator(patch_match
  "patch_match/opencl_0/box_sums.uint8_19x14x11_p4x3x2_w7x6x5_s2x2x3_n16"
  "patch_match/opencl_0/*.*_19x14x11_p4x3x2_w3x3x3_s3x2x4_n3_few"
  "patch_match/opencl_0/*.uint8_1x1x1_*")

tessera_add_test_entry(conformance.oclgrind.api
  COMMAND "${under_oclgrind}" clean "${CMAKE_CURRENT_BINARY_DIR}/oclgrind_api.log"
    $<TARGET_FILE:tessera_conformance_test> --backend=opencl
    --gtest_filter=api/OwnKernelTest.saxpy*:api/OwnKernelTest.group_sums*:api/OwnKernelTest.three*:api/MemoryTest.views*:api/MemoryTest.every_type*
  LABELS conformance oclgrind backend:opencl
  TIMEOUT 300)
tessera_add_test_entry(conformance.oclgrind.finds_a_planted_race
  COMMAND "${under_oclgrind}" finds "${CMAKE_CURRENT_BINARY_DIR}/oclgrind_race.log"
    $<TARGET_FILE:tessera_conformance_test> --backend=opencl --gtest_also_run_disabled_tests
    --gtest_filter=api/OwnKernelTest.DISABLED_planted_race/*
  LABELS conformance oclgrind backend:opencl
  TIMEOUT 120)
