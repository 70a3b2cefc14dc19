// The operator kernel_regression: a value for each query, from all training rows, the nearer the more.
#pragma once

#include <cstdint>
#include <string_view>

#include <tessera/buffer.h>
#include <tessera/host_operand.h>
#include <tessera/prepared_weights.h>
#include <tessera/types.h>

namespace tessera {

/// What a row's weight falls off with.
enum class Distance : std::uint8_t {
  squared,    ///< the squared Euclidean distance: a Gaussian
  euclidean,  ///< the distance itself
};

/// Name as messages and result files write it: "squared".
[[nodiscard]] TESSERA_API std::string_view to_string(Distance distance) noexcept;

/// Nadaraya and Watson's kernel regression of `queries` rows from `training_rows` rows, all of `columns` numbers:
///
///   D(q, t)      = sum over j of (query(q, j) - training(t, j))^2
///   a(q, t)      = order^2 scale^2 D(q, t) / 2                        distance squared
///   a(q, t)      = order^2 scale sqrt(D(q, t)) / 2                    distance euclidean
///   w(q, t)      = exp(min over t of a(q, t)  -  a(q, t))
///   values(q, r) = sum over t of w(q, t) targets(t, r)  /  sum over t of w(q, t)
///   votes(q, c)  = sum of w(q, t) over the rows t whose first target is c                      with `classes`
///
/// Weights are relative to the nearest row, whose own is 1: nothing becomes 0/0, however large `order` is. A weight
/// that is smaller than the results' type holds is 0, and its row has no part.
///
/// uint8 rows are taken as they are: D is an exact whole number on every device, and the results are float32.
///
/// A training row that holds a NaN or an infinity, or whose squared length passes the type's largest number, is
/// infinitely far and has no part. A query like that, or to which every row is infinitely far, gets NaN in its values,
/// votes and neighbours and in its nearest distance, and -1 as its nearest row. A first target that is no whole number
/// from 0 to classes - 1 votes for nothing.
struct KernelRegression {
  static constexpr std::string_view kName = "kernel_regression";
  /// Variants may subtract the mean of the first so many rows from all. It cannot be seen but in the last bits.
  static constexpr std::int64_t kCentreRows = 2048;
  /// Slabs of a training set hold a multiple of so many rows, but for the last.
  static constexpr std::int64_t kSlabRows = 4096;

  std::int64_t training_rows = 0;  ///< at least 1
  std::int64_t columns = 0;        ///< numbers in a row, at least 1; rows are packed
  std::int64_t queries = 0;        ///< rows to find values for; may be 0
  std::int64_t outputs = 1;        ///< targets of each training row, at least 1
  double order = 10;               ///< the study's m; finite, 0 or more. 0: every row weighs 1
  double scale = 1;  ///< every number counts as so many times itself, 1.0 / 255 for images; finite, above 0
  Distance distance = Distance::squared;
  std::int64_t classes = 0;  ///< numbers in a row of `votes`; 0: none are wanted
  bool nearest = false;      ///< nearest_row and nearest_squared are wanted
  bool neighbours = false;   ///< `neighbours` is wanted
  /// The rows are a slab of a larger set: the run goes on from `before`, and its results are those of all rows so far.
  /// stream() does this for you.
  bool is_slab = false;
  /// Of a slab: rows of the whole set, if they are known, or 0. How variants add up may follow the set's size, so that
  /// a slab without it may have other last bits than a small set in one piece.
  std::int64_t set_rows = 0;
  DataType type = DataType::float32;  ///< of queries and training rows: float32, float64 or uint8
  Accuracy accuracy = Accuracy::accurate;

  /// Of targets, values, votes and neighbours: float64 where the rows are, else float32.
  [[nodiscard]] constexpr DataType result_type() const noexcept {
    return type == DataType::float64 ? DataType::float64 : DataType::float32;
  }
  /// Of nearest_squared: the type of the rows, or int64 where they are uint8.
  [[nodiscard]] constexpr DataType squared_type() const noexcept {
    return type == DataType::uint8 ? DataType::int64 : type;
  }

  /// Rows that stand before the slab's own in `training`: the first kCentreRows of the whole set. Bytes need none.
  [[nodiscard]] constexpr std::int64_t centre_rows() const noexcept {
    return is_slab && type != DataType::uint8 ? kCentreRows : 0;
  }
  /// Numbers that a slab keeps of each query. What they mean is the variant's own business, but zeros: no row yet.
  [[nodiscard]] constexpr std::int64_t state_numbers() const noexcept { return 5 + outputs + classes; }

  /// What it is run with. Results that are not wanted stay empty. No result may overlap any other operand.
  struct Operands {
    ConstOperand queries;          ///< queries x columns
    WeightsOperand training;       ///< (centre_rows() + training_rows) x columns: raw, or from Queue::prepare_weights()
    ConstOperand targets;          ///< training_rows x outputs
    Operand values;                ///< queries x outputs
    Operand votes = {};            ///< queries x classes
    Operand nearest_row = {};      ///< of each query, int64: the lowest of those with the smallest D
    Operand nearest_squared = {};  ///< of each query: its D, without `scale`
    Operand neighbours = {};       ///< of each query: how many rows count, (sum of w)^2 / sum of w^2
    ConstOperand before = {};      ///< of a slab, float64, queries x state_numbers(): `after` of the slab before
    Operand after = {};            ///< likewise, for the slab behind it, of the same variant on the same device
  };
  /// The same for stream(), in the host's memory.
  struct HostOperands {
    ConstHostOperand queries;
    ConstHostOperand training;
    ConstHostOperand targets;
    HostOperand values;
    HostOperand votes = {};
    HostOperand nearest_row = {};
    HostOperand nearest_squared = {};
    HostOperand neighbours = {};
  };

  bool operator==(const KernelRegression&) const = default;
};

}  // namespace tessera
