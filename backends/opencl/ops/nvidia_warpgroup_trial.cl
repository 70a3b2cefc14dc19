// Does the driver compile products by warp groups? All that nvidia_warpgroup.cl asks for, with products of bytes, in a kernel
// that never runs.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DSTAGES=7
#include "ops/nvidia_warpgroup_bytes.cl"

__attribute__((reqd_work_group_size(128, 1, 1))) __kernel void nvidia_warpgroup_trial(__global int* numbers) {
  __local ulong full[1];
  __local uchar stage[OPERAND_ROWS * STEP_BYTES] __attribute__((aligned(128)));
  const uint at = (uint)(size_t)full, rows = (uint)(size_t)stage;
  begin_barrier(at, 1);
  publish_barriers();
  if (elects()) start_bulk_copy(rows, (__global const uchar*)numbers, OPERAND_ROWS * STEP_BYTES, at);
  wait_for_phase(at, 0);
  int sums[SUMS];
  const uint a[4] = {numbers[0], numbers[1], numbers[2], numbers[3]};
  begin_products();
  multiply_first(sums, a, OPERAND_LOW | rows / 16);
  multiply_next(sums, a, OPERAND_LOW | rows / 16);
  close_products();
  wait_for_products_before();
  wait_for_products();
  hold(sums);
  arrive(at);
  wait_for_warp_group(1);
  for (int i = 0; i < SUMS; ++i) numbers[get_local_id(0) * SUMS + i] = sums[i] + count_one(at);
}
