// What the kernels of "fused", "fused_split", "exact_bytes" and "vendor_cublas" take, by value; read by host and
// device.
//
//   prepared     | lengths | factors of split rows | centre | packed training rows |
//   workspace    | states of (block, query) | lengths | factors | packed queries of the round | products, if any |
#pragma once

#include <cstdint>

#include "ops/gemm/gemm_register_shapes.h"
#include "ops/kernel_regression/kernel_regression_arguments.h"

namespace tessera::cuda {

/// Training rows whose state is one, the most and the least of them where rows are of T
/// (mathematics/kernel_regression_slab.h).
inline constexpr int kMostBlockRows = 2048;
template <class T>
inline constexpr int kLeastBlockRows = sizeof(T) == 8   ? 64
                                       : sizeof(T) == 4 ? 128
                                                        : 256;
/// Packed rows are there in multiples of it: no tile is larger. Those behind the last are zeros, infinitely far.
inline constexpr int kRegressionPadding = 256;

/// A state's numbers, in double: these and a sum for each output and each class, relative to the least distance.
enum RegressionPlace : int { kRegressionLeast, kRegressionRow, kRegressionSum, kRegressionSquares, kRegressionSums };

/// What rows of T are packed as, and their squared lengths.
template <class T>
struct RegressionPacked {
  using Number = T;
  using Length = T;
};
template <>
struct RegressionPacked<std::uint8_t> {
  using Number = std::uint8_t;
  using Length = std::int32_t;
};

/// Rows to be packed: `padded_rows` of them from `first_row` on, of which those below `rows` exist.
template <class T>
struct RegressionPackArguments {
  using Number = typename RegressionPacked<T>::Number;
  using Length = typename RegressionPacked<T>::Length;

  const T* rows;
  const Number* centre;  ///< null: rows are packed as they are given
  Number* packed;        ///< null: only lengths are wanted
  Length* lengths;
  Length* factors;  ///< of split rows: what scales a sum of their products back for the row
  Number* new_centre;
  std::int64_t row_count;
  std::int64_t first_row;
  std::int64_t padded_rows;
  std::int64_t columns;
  std::int64_t depth;        ///< numbers of a packed row; zeros behind the last column
  std::int64_t row_step;     ///< from a packed row to the next
  std::int64_t number_step;  ///< from a packed row's number to the next
  std::int64_t panel_rows;   ///< of packed panels (kernel_regression_pack_panels.cu, kernel_regression_pack_split.cu)
  int offset;                ///< taken off every byte
};

/// Warps of a block that packs, a row each; threads of one that adds up columns.
inline constexpr int kRegressionPackWarps = 4;
inline constexpr int kRegressionCentreThreads = 128;
/// Rows of a warp that packs panels.
inline constexpr int kPanelPackRows = 8;

/// The rows of a round's queries meet all training rows.
template <class T>
struct RegressionTileArguments {
  using Number = typename RegressionPacked<T>::Number;
  using Length = typename RegressionPacked<T>::Length;
  using Result = typename RegressionArguments<T>::Result;

  const Number* rows;
  const Number* queries;
  const Length* row_lengths;
  const Length* query_lengths;
  const Length* row_factors;  ///< of split rows
  const Length* query_factors;
  const Result* targets;
  double* states;  ///< a number of a block and all queries lie side by side
  std::int64_t training_rows;
  std::int64_t block_rows;
  std::int64_t queries_of_round;  ///< that exist
  std::int64_t state_queries;     ///< from a number of a state to the next
  std::int64_t depth;
  std::int64_t row_step;    ///< from a packed training row to the next, or, if they lie side by side, from a number
  std::int64_t query_step;  ///< likewise of queries
  std::int64_t query_tiles;
  std::int64_t outputs;
  std::int64_t classes;
  double factor;  ///< of the exponent
  double reach;   ///< so far beyond the nearest row, or beyond its root, others weigh something
  bool is_euclidean;
  std::int32_t steps;          ///< of 16 columns, of split rows
  std::int64_t tiles_at_once;  ///< of queries, which "fused" takes through all blocks before it takes others
};

/// Blocks of training rows whose products with the round's queries are there: `leading` from a query's to the next.
template <class T>
struct RegressionProductArguments {
  RegressionTileArguments<T> regression;
  const typename RegressionPacked<T>::Length* products;
  std::int64_t leading;
  std::int64_t first_block;
};

/// Queries that a library multiplies at a time, at most. How it rounds may depend on their number: batches of a stream
/// hold a multiple of it, so that each query is multiplied beside as many others as in one piece.
inline constexpr std::int64_t kRegressionProductQueries = 2048;
/// Threads of a group that makes a block's state of a query's products.
inline constexpr int kRegressionProductThreads = 128;

/// The states of a round's queries become their results.
template <class T>
struct RegressionJoinArguments {
  using Result = typename RegressionArguments<T>::Result;
  using Squared = typename RegressionArguments<T>::Squared;

  const double* states;
  Result* values;
  Result* votes;
  std::int64_t* nearest_row;
  Squared* nearest_squared;
  Result* neighbours;
  const double* before;  ///< of a slab: rows met and a state of each query; else null
  double* after;         ///< likewise
  std::int64_t blocks;
  std::int64_t training_rows;
  std::int64_t queries_of_round;
  std::int64_t state_queries;
  std::int64_t first_query;
  std::int64_t outputs;
  std::int64_t classes;
  double factor;
  double reach;
  bool is_euclidean;
};

/// Queries of a block that joins, numbers of a state that it computes side by side, and blocks of training rows whose
/// weights it has in shared memory.
inline constexpr int kRegressionJoinQueries = 32;
inline constexpr int kRegressionJoinPlaces = 8;
inline constexpr int kRegressionJoinBlocks = 32;

}  // namespace tessera::cuda
