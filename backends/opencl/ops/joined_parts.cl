// Parts of sums that groups of their own compute, and that the last group of each block adds up: what a kernel needs so
// that no second launch is.
//
//   groups of a block:  part 0   part 1   part 2      Each leaves its sums in the workspace and counts. The last one to
//                         |        |        |         count knows that all sums are there: it adds them up, in the
//                       sums     sums     sums        parts' order, whichever it computed itself, so that every run
//                         +--------+--------+         gives the same bits. It sets the counter back to 0 for the next
//                                  v                  launch.
//                           last one: result
//
// Option: JOINED, 1 where a kernel does so.
//
// Compiles alone with: -DJOINED=0
// Compiles alone with: -cl-std=CL3.0 -DJOINED=1
#ifndef JOINED
#define JOINED 0
#endif

#if JOINED
// The kernel's parameters behind its other memory.
#define WHERE_PARTS_MEET                                       \
  , __global real *sums_of_parts, const ulong sums_first,      \
      volatile __global uint *counters, const ulong counters_first

// What the work-item wrote, or saw behind a barrier, is to be seen by the whole device, and what others wrote by it.
#ifdef __NV_CL_C_VERSION
#define FENCE_OF_DEVICE() asm volatile("fence.acq_rel.gpu;" ::: "memory")
#else
#define FENCE_OF_DEVICE() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)
#endif

// Counts this group, all of whose work-items call it. Not 0 if all others of its block, `count` with this one, have been
// here: then what they wrote before may be read. `is_last` is local memory that nobody else uses.
static inline int comes_last(volatile __global uint *counter, const long count, __local int *is_last) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    FENCE_OF_DEVICE();
    *is_last = atomic_inc(counter) == (uint)count - 1;
    if (*is_last) *counter = 0;
    FENCE_OF_DEVICE();
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return *is_last;
}
#else
#define WHERE_PARTS_MEET
#endif
