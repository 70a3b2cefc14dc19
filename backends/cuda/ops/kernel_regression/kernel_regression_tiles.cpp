// What "fused", "fused_split", "exact_bytes" and "vendor_cublas" prepare, pack and join.
#include "ops/kernel_regression/kernel_regression_tiles.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
#include "cuda_split_shape.h"
#include "mathematics/kernel_regression_slab.h"

namespace tessera::cuda {
namespace {

/// Of the workspace, unless kRegressionPadding queries need more; and with products, of which a library wants many at a
/// time.
constexpr std::int64_t kMostWorkspaceBytes = std::int64_t{128} << 20;
constexpr std::int64_t kMostBytesWithProducts = std::int64_t{512} << 20;
/// Of a library's products a group meets all rows of a block at once, 16 a thread: shorter blocks leave threads idle.
/// 6000 x 784 with 100 queries took 114, 95, 87 and 108 us in float64 on an H100 with blocks of 64, 256, 1024 and 2048
/// rows; without a committed file.
constexpr std::int64_t kLeastBlockRowsOfProducts = 1024;

static_assert(kMostBlockRows == mathematics::kMostRegressionBlockRows);
static_assert(kLeastBlockRows<double> == mathematics::least_regression_block_rows(DataType::float64));
static_assert(kLeastBlockRows<float> == mathematics::least_regression_block_rows(DataType::float32));
static_assert(kLeastBlockRows<std::uint8_t> == mathematics::least_regression_block_rows(DataType::uint8));

std::size_t to_lines(std::size_t bytes) noexcept {
  return mathematics::round_up<std::size_t>(bytes, 256);
}

std::size_t number_bytes(const KernelRegression& problem) noexcept {
  return size_bytes(problem.type);
}
/// Of a row's squared length.
std::size_t length_bytes(const KernelRegression& problem) noexcept {
  return problem.type == DataType::uint8 ? sizeof(std::int32_t) : size_bytes(problem.type);
}
std::int64_t state_bytes(const KernelRegression& problem) noexcept {
  return (kRegressionSums + problem.outputs + problem.classes) * static_cast<std::int64_t>(sizeof(double));
}

LaunchGrid line_of(std::int64_t groups, int threads, bool overlaps) noexcept {
  LaunchGrid grid;
  grid.groups[0] = static_cast<unsigned>(groups);
  grid.group_size[0] = static_cast<unsigned>(threads);
  grid.overlaps = overlaps;
  return grid;
}

}  // namespace

RegressionTilesPlan::RegressionTilesPlan(const KernelRegression& problem, const RegressionPacking& packing,
                                         std::size_t product_bytes)
    : block_rows_(product_bytes == 0 ? mathematics::regression_block_rows(problem)
                                     : mathematics::regression_block_rows(problem, kLeastBlockRowsOfProducts)),
      blocks_(ceil_div(problem.training_rows, block_rows_)),
      padded_rows_(mathematics::round_up<std::int64_t>(problem.training_rows, kRegressionPadding)) {
  const auto number = static_cast<std::int64_t>(number_bytes(problem));
  depth_ = mathematics::round_up(problem.columns * number, packing.depth_bytes) / number;
  const auto rows = static_cast<std::size_t>(padded_rows_);
  const auto packed_row = static_cast<std::size_t>(depth_ * number);
  const bool has_centre = problem.type != DataType::uint8;
  const std::size_t beside_row = length_bytes(problem) * (packing.is_split() ? 2 : 1);
  centre_at_ = to_lines(rows * beside_row);
  rows_at_ = centre_at_ + (has_centre ? to_lines(static_cast<std::size_t>(problem.columns * number)) : 0);
  if (has_centre)
    rows_of_centre_ = std::min(KernelRegression::kCentreRows, problem.centre_rows() + problem.training_rows);
  // The uncentred lengths of these rows lie for a while where the packed ones come.
  const std::size_t lengths = static_cast<std::size_t>(rows_of_centre_) * length_bytes(problem);
  prepared_bytes_ = rows_at_ + std::max(rows * packed_row, lengths);

  const std::int64_t query_bytes =
      blocks_ * state_bytes(problem) + depth_ * number + static_cast<std::int64_t>(product_bytes + beside_row);
  const std::int64_t most_bytes = product_bytes == 0 ? kMostWorkspaceBytes : kMostBytesWithProducts;
  const std::int64_t wanted = mathematics::round_up(std::max<std::int64_t>(problem.queries, 1), kRegressionPadding);
  auto fitting = static_cast<std::uint64_t>(most_bytes / query_bytes / kRegressionPadding * kRegressionPadding);
  if (product_bytes != 0) {
    fitting = std::max(std::bit_floor(std::min<std::uint64_t>(fitting, kRegressionProductQueries)),
                       fitting / kRegressionProductQueries * kRegressionProductQueries);
  }
  queries_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), kRegressionPadding, wanted);
  const auto queries = static_cast<std::size_t>(queries_);
  query_lengths_at_ = to_lines(queries * static_cast<std::size_t>(blocks_ * state_bytes(problem)));
  queries_at_ = query_lengths_at_ + to_lines(queries * beside_row);
  products_at_ = queries_at_ + to_lines(queries * packed_row);
  workspace_bytes_ = products_at_ + queries * product_bytes;
}

namespace {

const Image& image_of(const RegressionPacking& packing) {
  const std::string_view kernel = packing.kernel;
  if (kernel == "pack_panels") return embedded::kernel_regression_pack_panels;
  return packing.is_split() ? embedded::kernel_regression_pack_split : embedded::kernel_regression_pack;
}

/// Rows of a group that packs.
std::int64_t group_rows(const RegressionPacking& packing) {
  return kRegressionPackWarps * (std::string_view(packing.kernel) == "pack_panels" ? kPanelPackRows : 1);
}

}  // namespace

template <class T>
RegressionByStates<T>::RegressionByStates(std::shared_ptr<Context> context, const KernelRegression& problem,
                                          const RegressionTilesPlan& plan, const RegressionPacking& packing)
    : context_(std::move(context)),
      problem_(problem),
      plan_(plan),
      packing_(packing),
      pack_(context_, image_of(packing), regression_function(packing.kernel, problem.type), {}),
      join_(context_, embedded::kernel_regression_join, regression_function("join", problem.type), {}) {
  if (problem.type == DataType::uint8) return;
  centre_ = std::make_unique<CudaFunction>(context_, embedded::kernel_regression_pack,
                                           regression_function("centre", problem.type), LaunchGrid{});
}

template <class T>
void RegressionByStates<T>::set_steps(RegressionPackArguments<T>& arguments, std::int64_t rows,
                                      std::int64_t panel_rows) const noexcept {
  arguments.row_step = packing_.across ? 1 : plan_.depth();
  arguments.number_step = packing_.across ? rows : 1;
  arguments.panel_rows = panel_rows;
  if (packing_.is_split()) arguments.factors = arguments.lengths + rows;
}

template <class T>
void RegressionByStates<T>::enqueue_pack(backend::Queue& queue, RegressionPackArguments<T>& arguments) const {
  pack_.enqueue(queue, arguments,
                line_of(ceil_div<std::int64_t>(arguments.padded_rows, group_rows(packing_)), 32 * kRegressionPackWarps,
                        overlaps()));
}

template <class T>
void RegressionByStates<T>::prepare(backend::Queue& queue, const backend::Slice& weights,
                                    const backend::Slice& prepared, const backend::Slice&) {
  using Arguments = RegressionPackArguments<T>;
  Arguments arguments{};
  arguments.rows = pointer_to<const T>(weights);
  arguments.columns = problem_.columns;
  arguments.depth = plan_.depth();
  arguments.offset = packing_.offset;
  if (centre_ != nullptr) {
    prepare_centre(queue, arguments, prepared);
    arguments.centre = pointer_at<const typename Arguments::Number>(prepared, plan_.centre_at());
  }
  arguments.rows += problem_.centre_rows() * problem_.columns;
  arguments.packed = pointer_at<typename Arguments::Number>(prepared, plan_.rows_at());
  arguments.lengths = pointer_to<typename Arguments::Length>(prepared);
  arguments.row_count = problem_.training_rows;
  arguments.padded_rows = plan_.padded_rows();
  set_steps(arguments, plan_.padded_rows(), packing_.row_panel);
  enqueue_pack(queue, arguments);
}

template <class T>
void RegressionByStates<T>::prepare_centre(backend::Queue& queue, RegressionPackArguments<T> arguments,
                                           const backend::Slice& prepared) const {
  using Arguments = RegressionPackArguments<T>;
  arguments.lengths = pointer_at<typename Arguments::Length>(prepared, plan_.rows_at());
  arguments.new_centre = pointer_at<typename Arguments::Number>(prepared, plan_.centre_at());
  arguments.row_count = plan_.rows_of_centre();
  arguments.padded_rows = plan_.rows_of_centre();
  enqueue_pack(queue, arguments);  // without packing: lengths of rows as given tell which of them have a part
  centre_->enqueue(queue, arguments,
                   line_of(ceil_div<std::int64_t>(problem_.columns, kRegressionCentreThreads), kRegressionCentreThreads,
                           overlaps()));
}

template <class T>
void RegressionByStates<T>::launch(backend::Queue& queue, std::span<const backend::Slice> operands,
                                   const backend::Slice& workspace) {
  using Number = typename Tiles::Number;
  using Length = typename Tiles::Length;
  for (std::int64_t first = 0; first < problem_.queries; first += plan_.queries()) {
    const std::int64_t count = std::min(plan_.queries(), problem_.queries - first);
    RegressionPackArguments<T> pack{};
    pack.rows = pointer_to<const T>(operands[0]);
    pack.centre = problem_.type == DataType::uint8 ? nullptr : pointer_at<const Number>(operands[1], plan_.centre_at());
    pack.packed = pointer_at<Number>(workspace, plan_.queries_at());
    pack.lengths = pointer_at<Length>(workspace, plan_.query_lengths_at());
    pack.row_count = problem_.queries;
    pack.first_row = first;
    pack.padded_rows = mathematics::round_up<std::int64_t>(count, packing_.query_rows);
    pack.columns = problem_.columns;
    pack.depth = plan_.depth();
    pack.offset = packing_.offset;
    set_steps(pack, plan_.queries(), packing_.query_panel);
    enqueue_pack(queue, pack);

    Tiles arguments{};
    arguments.rows = pointer_at<const Number>(operands[1], plan_.rows_at());
    arguments.queries = pack.packed;
    arguments.row_lengths = pointer_to<const Length>(operands[1]);
    arguments.query_lengths = pack.lengths;
    arguments.targets = pointer_to<const typename Tiles::Result>(operands[2]);
    arguments.states = pointer_to<double>(workspace);
    arguments.training_rows = problem_.training_rows;
    arguments.block_rows = plan_.block_rows();
    arguments.queries_of_round = count;
    arguments.state_queries = plan_.queries();
    arguments.depth = plan_.depth();
    arguments.row_step = packing_.across ? plan_.padded_rows() : plan_.depth();
    arguments.query_step = packing_.across ? plan_.queries() : plan_.depth();
    if (packing_.is_split()) {
      arguments.row_factors = arguments.row_lengths + plan_.padded_rows();
      arguments.query_factors = pack.factors;
      arguments.steps = static_cast<std::int32_t>(ceil_div<std::int64_t>(problem_.columns, kSplitStep));
    }
    arguments.outputs = problem_.outputs;
    arguments.classes = problem_.classes;
    arguments.factor = mathematics::regression_factor(problem_);
    arguments.reach = mathematics::regression_reach(problem_);
    arguments.is_euclidean = problem_.distance == Distance::euclidean;
    launch_round(queue, arguments, workspace);
    join(queue, operands, arguments, first);
  }
}

template <class T>
void RegressionByStates<T>::join(backend::Queue& queue, std::span<const backend::Slice> operands,
                                 const Tiles& arguments, std::int64_t first_query) const {
  using Arguments = RegressionJoinArguments<T>;
  Arguments join{};
  join.states = arguments.states;
  join.values = pointer_to<typename Arguments::Result>(operands[3]);
  join.votes = pointer_to<typename Arguments::Result>(operands[4]);
  join.nearest_row = pointer_to<std::int64_t>(operands[5]);
  join.nearest_squared = pointer_to<typename Arguments::Squared>(operands[6]);
  join.neighbours = pointer_to<typename Arguments::Result>(operands[7]);
  if (problem_.is_slab) {
    join.before = pointer_to<const double>(operands[8]);
    join.after = pointer_to<double>(operands[9]);
  }
  join.blocks = plan_.blocks();
  join.training_rows = arguments.training_rows;
  join.queries_of_round = arguments.queries_of_round;
  join.state_queries = arguments.state_queries;
  join.first_query = first_query;
  join.outputs = arguments.outputs;
  join.classes = arguments.classes;
  join.factor = arguments.factor;
  join.reach = arguments.reach;
  join.is_euclidean = arguments.is_euclidean;
  LaunchGrid grid = line_of(ceil_div<std::int64_t>(join.queries_of_round, kRegressionJoinQueries),
                            kRegressionJoinQueries, overlaps());
  grid.group_size[1] = kRegressionJoinPlaces;
  constexpr std::int64_t kMostGroups = 1024;  // for the numbers of a query
  grid.groups[1] = static_cast<unsigned>(
      std::min(ceil_div<std::int64_t>(join.outputs + join.classes, kRegressionJoinPlaces), kMostGroups));
  join_.enqueue(queue, join, grid);
}

template class RegressionByStates<std::uint8_t>;
template class RegressionByStates<float>;
template class RegressionByStates<double>;

}  // namespace tessera::cuda
