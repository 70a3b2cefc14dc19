// What 32 work-items together, a warp, ask of NVIDIA's instructions, whatever they compute: copies to local memory that pass
// no register, and what lanes tell each other. From sm_80 on. Option: STAGES.
//
//   stages in local memory, STAGES of them     A stage is read while those behind it are on their way; the one that was
//   | read | arrives | arrives |  free ...     read before is filled again. Copies are waited for in the order in which
//            <- close_copies() ends each       they were started, stage by stage.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DSTAGES=4

#define CHUNK_BYTES 16
// A function that is called would take registers through memory.
#define ALWAYS_INLINE static inline __attribute__((always_inline))

// Sends 16 bytes on their way to local memory.
ALWAYS_INLINE void start_copy(const uint to, __global const uchar* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// What was started since the last call belongs together, and is waited for together.
ALWAYS_INLINE void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until all but the newest STAGES - 2 are there.
ALWAYS_INLINE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
}

// Is it so for one of the 32 lanes at least?
ALWAYS_INLINE int is_any(const int condition) {
  int any;
  asm volatile("{ .reg .pred mine, all; setp.ne.s32 mine, %1, 0; vote.sync.any.pred all, mine, 0xffffffff; "
               "selp.s32 %0, 1, 0, all; }"
               : "=r"(any)
               : "r"(condition));
  return any;
}

// What the lane has whose number differs by 1, or by 2, in that bit alone.
ALWAYS_INLINE int of_lane_1_apart(const int number) {
  int there;
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(there) : "r"(number));
  return there;
}
ALWAYS_INLINE int of_lane_2_apart(const int number) {
  int there;
  asm volatile("shfl.sync.bfly.b32 %0, %1, 2, 31, 0xffffffff;" : "=r"(there) : "r"(number));
  return there;
}
