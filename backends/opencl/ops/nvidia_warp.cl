// What 32 work-items together, a warp, ask of NVIDIA's instructions, whatever they compute: copies to local memory that pass
// no register, what lanes tell each other, and bits that one gathers. From sm_80 on. Option: STAGES, for copies.
//
//   stages in local memory, STAGES of them     A stage is read while those behind it are on their way; the one that was
//   | read | arrives | arrives |  free ...     read before is filled again. Copies are waited for in the order in which
//            <- close_copies() ends each       they were started, stage by stage.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DSTAGES=4
// Compiles alone with: -target nvptx64 -fgnu-keywords

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
#ifdef STAGES
// Until all but the newest STAGES - 2 are there.
ALWAYS_INLINE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
}
#endif

// Four matrices of 8 rows x 16 bytes. Lane i brings where row i % 8 of matrix i / 8 lies in local memory.
ALWAYS_INLINE void load_matrices(uint words[4], const uint at) {
  uint w0, w1, w2, w3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(w0), "=r"(w1), "=r"(w2), "=r"(w3)
               : "r"(at)
               : "memory");
  words[0] = w0;
  words[1] = w1;
  words[2] = w2;
  words[3] = w3;
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

// A bit for each lane: is it so for that one?
ALWAYS_INLINE uint which_are(const int condition) {
  uint which;
  asm volatile("{ .reg .pred mine; setp.ne.s32 mine, %1, 0; vote.sync.ballot.b32 %0, mine, 0xffffffff; }"
               : "=r"(which)
               : "r"(condition));
  return which;
}
// Lanes wait for each other, and see what each has written.
ALWAYS_INLINE void sync_lanes() {
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
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
// What the lane of this number has.
ALWAYS_INLINE int of_lane(const int number, const int lane) {
  int there;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(there) : "r"(number), "r"(lane));
  return there;
}
// What the lane has whose number differs in these bits, and what the lane has that is so many before, or its own if there
// is none.
ALWAYS_INLINE int of_lane_apart(const int number, const int bits) {
  int there;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(there) : "r"(number), "r"(bits));
  return there;
}
ALWAYS_INLINE int of_lane_before(const int number, const int lanes) {
  int there;
  asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(there) : "r"(number), "r"(lanes));
  return there;
}
// The bits that any lane has.
ALWAYS_INLINE uint any_of_lanes(const uint bits) {
  uint any;
  asm volatile("redux.sync.or.b32 %0, %1, 0xffffffff;" : "=r"(any) : "r"(bits));
  return any;
}

// These bits, and behind them the highest one of `next`.
ALWAYS_INLINE uint with_next_bit(const uint bits, const uint next) {
  uint more;
  asm("shf.l.wrap.b32 %0, %1, %2, 1;" : "=r"(more) : "r"(next), "r"(bits));
  return more;
}
