// The inner part of the variant "register": a packed panel of A times slivers of B, in the best instruction set that
// the processor has.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tessera::cpu_tbb {

/// Elements of k that are multiplied before sums go back to C. Between two reads of an element of A a whole sliver of B
/// passes through the first-level cache, so both should fit: 10.5 + 24 KiB in float, 14 + 16 in double. At 1024 x 1024
/// x 1024 floats a depth of 192 reached 0.992 of oneDNN's speed on one core of a Xeon with 48 KiB; smaller and larger
/// depths were slower. Sums are added up step by step, in an order that
/// depends on the problem alone: gemm_register_steps.h takes longer steps where C is one vector wide.
template <class T>
inline constexpr std::int64_t kRegisterDepth = sizeof(T) == 4 ? 192 : 128;

/// The most rows that a tile has in any instruction set.
inline constexpr std::int64_t kRegisterMostRows = 14;

/// What the registers of one tile hold, in this processor's instruction set: 14 x 32 floats in AVX-512.
struct RegisterTile {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// Reads nothing of B beyond PanelProduct::columns, so that all of B can be read where it lies.
  bool reads_columns_alone = false;
};
template <class T>
[[nodiscard]] RegisterTile register_tile();

/// Memory that is brought into the second-level cache, step by step, while tiles are computed: `runs` runs of
/// `run_bytes`, run_step_bytes apart.
class Prefetch {
 public:
  Prefetch() = default;
  Prefetch(const void* first, std::int64_t runs, std::int64_t run_bytes, std::int64_t run_step_bytes)
      : run_(static_cast<const char*>(first)),
        runs_left_(runs),
        run_bytes_(run_bytes),
        run_step_bytes_(run_step_bytes) {}
  /// Spreads the whole prefetch evenly over that many calls of advance().
  void spread(std::int64_t steps) noexcept {
    const std::int64_t lines = runs_left_ * (run_bytes_ / kLineBytes + 1);
    lines_per_step_ = lines / std::max<std::int64_t>(steps, 1) + 1;
  }
  void advance() noexcept {
    for (std::int64_t line = 0; line < lines_per_step_ && runs_left_ > 0; ++line) {
      __builtin_prefetch(run_ + offset_bytes_, 0, 2);
      offset_bytes_ += kLineBytes;
      if (offset_bytes_ < run_bytes_) continue;
      offset_bytes_ = 0;
      run_ += run_step_bytes_;
      --runs_left_;
    }
  }

 private:
  static constexpr std::int64_t kLineBytes = 64;
  const char* run_ = nullptr;
  std::int64_t runs_left_ = 0;
  std::int64_t run_bytes_ = 0;
  std::int64_t run_step_bytes_ = 0;
  std::int64_t offset_bytes_ = 0;
  std::int64_t lines_per_step_ = 1;
};

/// One panel of A times the slivers of B beside each other, into rows of C.
template <class T>
struct PanelProduct {
  const T* a = nullptr;           ///< packed: element (row, p) at a[row * kRegisterDepth<T> + p]
  std::int64_t a_row_step = 0;    ///< in place: element (row, p) at a[row * a_row_step + p * a_depth_step];
  std::int64_t a_depth_step = 0;  ///< one of the two steps is 1
  const T* b = nullptr;           ///< the first sliver: element (p, column) at b[p * b_step + column]
  std::int64_t b_step = 0;
  const std::int64_t* b_offsets = nullptr;  ///< if not null: element (p, column) at b[b_offsets[p] + column] instead
  std::int64_t sliver_step = 0;             ///< from one sliver to the next
  T* packed = nullptr;  ///< where the slivers are left, packed, if B is read in place; all are whole then
  T* c = nullptr;
  std::int64_t ldc = 0;
  std::int64_t rows = 0;     ///< 1 to the tile's rows
  std::int64_t columns = 0;  ///< any; unless the tile reads them alone, reads of B go on to the end of the last vector
  std::int64_t depth = 0;    ///< 1 to kRegisterDepth<T>; any where A is read in place
  T alpha = 0;
  T beta = 0;               ///< 0: C is not read
  const T* bias = nullptr;  ///< if not null: added to every row of C, an element a column; beta is 0 then
  bool rectifies = false;   ///< afterwards what is less than 0 becomes 0; beta is 0 then
  /// Whole tiles of C pass by the caches: beta is 0, and each of their rows is whole lines. Whoever asks for it calls
  /// hwy::FlushStream() behind the last panel: once for each costs more than it gains.
  bool streams = false;
  Prefetch next;          ///< what the next panel is packed from
  Prefetch next_slivers;  ///< a share of what the next slivers are packed from
};
template <class T>
void multiply_panel(const PanelProduct<T>& product);
/// The same for a panel that is read where it lies, times slivers that have no offsets and leave no copies.
template <class T>
void multiply_panel_in_place(const PanelProduct<T>& product);

}  // namespace tessera::cpu_tbb
