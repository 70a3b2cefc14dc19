// What "fused" and the variants of bytes in tiles prepare and launch. See kernel_regression_tiles.cl,
// kernel_regression_tensor.cl, kernel_regression_wgmma.cl, kernel_regression_split.cl and kernel_regression_pack.cl.
//
//   prepared     | lengths | centre | panels of training rows |
//   workspace    | states of (block, query) | lengths | panels of the round's queries |
//
// Behind the lengths of split rows stands a factor of each.
#include "ops/kernel_regression/kernel_regression_tiles.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "opencl_embedded.h"

namespace tessera::opencl {

namespace {

/// Packing of kernel_regression_pack.cl.
struct RegressionPacking {
  cl_long rows, padded_rows;
  cl_long columns, depth;
  cl_long width;
  cl_long is_centred;
};
static_assert(sizeof(RegressionPacking) == 48, "kernel_regression_pack.cl says so too");

/// Tiling of kernel_regression_tiles.cl.
struct RegressionTiling {
  cl_long depth;
  cl_long row_panels;
  cl_long query_panels;
  cl_long query_groups;
  cl_long groups_at_once;
};
static_assert(sizeof(RegressionTiling) == 40, "kernel_regression_tiles.cl says so too");

constexpr std::int64_t kMostPackedByGroups = 131072;  ///< numbers of a round: a guess, beyond writing takes too long
constexpr const char* kPackSplit = "kernel_regression_pack_split";
/// PACKED_AT_ONCE of kernel_regression_pack.cl.
constexpr std::int64_t kPackedAtOnce = 8;
/// Numbers of 16 cache lines: what follows a part of the memory begins at a whole line, and at a whole double.
constexpr std::int64_t kAlignedNumbers = 32;

std::int64_t padded_to(std::int64_t size, std::int64_t piece) {
  return ceil_div(size, piece) * piece;
}

class TilesPlan {
 public:
  TilesPlan(const KernelRegression& problem, const OpenclDevice& device, const RegressionTile& tile)
      : problem_(problem), device_(device), tile_(tile) {
    depth_ = padded_to(ceil_div(problem.columns, tile.numbers), tile.depth);
    padded_rows_ = padded_to(problem.training_rows, tile.rows);
    shape_ = regression_shape(problem);
    shape_.rows_of_chunk = regression_block_rows(problem, tile);
    blocks_ = ceil_div(problem.training_rows, shape_.rows_of_chunk);
    centre_ = padded_to(padded_rows_ * numbers_beside_row(), kAlignedNumbers);
    row_panels_ = centre_ + padded_to(problem.type == DataType::uint8 ? 0 : problem.columns, kAlignedNumbers);
    panels_ = panels_of_group();
    const std::int64_t query_bytes = blocks_ * state_bytes() + (depth_ + numbers_beside_row()) * number_bytes();
    const std::int64_t group = panels_ * tile.queries;
    const std::int64_t wanted = padded_to(std::max<std::int64_t>(problem.queries, 1), group);
    queries_ = std::clamp(kMostWorkspaceBytes / query_bytes / group * group, group, wanted);
    shape_.queries_of_round = queries_;
    shape_.chunks = blocks_;
  }

  [[nodiscard]] Preparation preparation() const {
    Preparation preparation;
    const bool is_centred = problem_.type != DataType::uint8;
    const std::int64_t centre_rows =
        is_centred ? std::min(KernelRegression::kCentreRows, problem_.centre_rows() + problem_.training_rows) : 0;
    // The uncentred lengths of these rows lie for a while where the panels come.
    preparation.size_bytes =
        static_cast<std::size_t>((row_panels_ + std::max(padded_rows_ * depth_, centre_rows)) * number_bytes());
    const auto push = [&](OperatorLaunch launch) {
      // The training set is all of one round, whose number the kernels take behind the struct.
      launch.kernel->set(static_cast<cl_uint>(2 * launch.memory.size()) + launch.struct_count, cl_long{0});
      preparation.launches.push_back(std::move(launch));
    };
    MemoryArgument raw{.place = 0, .type = problem_.type};
    if (is_centred) {
      RegressionPacking packing = packing_of(centre_rows, centre_rows, tile_.rows);
      packing.is_centred = 0;
      push(by_groups("kernel_regression_lengths", {raw, prepared(centre_), prepared(row_panels_)}, packing));
      push(
          line("kernel_regression_centre", problem_.columns, {raw, prepared(row_panels_), prepared(centre_)}, packing));
    }
    raw.first_element = static_cast<std::uint64_t>(problem_.centre_rows() * problem_.columns);
    const RegressionPacking packing = packing_of(problem_.training_rows, padded_rows_, tile_.rows);
    if (tile_.is_split) {
      push(by_groups(kPackSplit, {raw, prepared(centre_), prepared(0), prepared(row_panels_)}, packing));
      return preparation;
    }
    push(by_groups("kernel_regression_lengths", {raw, prepared(centre_), prepared(0)}, packing));
    push(pack(raw, prepared(centre_), prepared(0), prepared(row_panels_), packing));
    return preparation;
  }

  [[nodiscard]] OperatorRun run() const {
    OperatorRun run{.launches = {}, .rounds = ceil_div(problem_.queries, queries_)};
    const MemoryArgument raw{.place = 0, .type = problem_.type};
    const RegressionPacking packing = packing_of(problem_.queries, queries_, tile_.queries);
    const MemoryArgument lengths = workspace(query_lengths()), panels = workspace(query_panels());
    if (tile_.is_split) {
      run.launches.push_back(by_groups(kPackSplit, {raw, prepared(centre_), lengths, panels}, packing));
    } else if (queries_ * depth_ <= kMostPackedByGroups) {
      run.launches.push_back(
          by_groups("kernel_regression_pack_few", {raw, prepared(centre_), lengths, panels}, packing));
    } else {
      run.launches.push_back(by_groups("kernel_regression_lengths", {raw, prepared(centre_), lengths}, packing));
      run.launches.push_back(pack(raw, prepared(centre_), lengths, panels, packing));
    }
    run.launches.push_back(tiles());
    run.launches.push_back(join());
    return run;
  }

  [[nodiscard]] std::size_t workspace_bytes() const {
    return static_cast<std::size_t>((query_panels() + queries_ * depth_) * number_bytes());
  }

 private:
  [[nodiscard]] DataType number_type() const noexcept {
    return problem_.type == DataType::float64 ? DataType::float64 : DataType::float32;
  }
  [[nodiscard]] std::int64_t number_bytes() const noexcept {
    return static_cast<std::int64_t>(size_bytes(number_type()));
  }
  /// A row's length, and a factor where it is split.
  [[nodiscard]] std::int64_t numbers_beside_row() const noexcept { return tile_.is_split ? 2 : 1; }
  [[nodiscard]] std::int64_t state_bytes() const noexcept {
    constexpr std::int64_t kStateSums = 4;
    return (kStateSums + problem_.outputs + problem_.classes) * static_cast<std::int64_t>(sizeof(double));
  }
  /// In numbers, behind the states.
  [[nodiscard]] std::int64_t query_lengths() const noexcept {
    return padded_to(blocks_ * queries_ * state_bytes() / number_bytes(), kAlignedNumbers);
  }
  [[nodiscard]] std::int64_t query_panels() const noexcept {
    return query_lengths() + padded_to(queries_ * numbers_beside_row(), kAlignedNumbers);
  }
  [[nodiscard]] MemoryArgument prepared(std::int64_t first) const noexcept {
    return {.place = 1, .type = number_type(), .first_element = static_cast<std::uint64_t>(first)};
  }
  [[nodiscard]] MemoryArgument workspace(std::int64_t first) const noexcept {
    return {
        .place = MemoryArgument::kWorkspace, .type = number_type(), .first_element = static_cast<std::uint64_t>(first)};
  }

  /// A processor's group takes several panels of queries, which stay in its caches, while every thread has groups.
  [[nodiscard]] std::int64_t panels_of_group() const {
    if (tile_.items() > 1) return 1;
    constexpr std::int64_t kMostPanels = 10;
    constexpr std::int64_t kGroupsOfUnit = 4;
    const std::int64_t panels = ceil_div(problem_.queries, tile_.queries) * blocks_;
    const auto units = static_cast<std::int64_t>(std::max<std::uint64_t>(device_.facts().info.compute_units, 1));
    return std::clamp<std::int64_t>(panels / (kGroupsOfUnit * units), 1, kMostPanels);
  }

  [[nodiscard]] std::int64_t blocks_of_group() const {
    return regression_blocks_of_group(tile_, device_.facts(), blocks_, queries_, shape_.rows_of_chunk);
  }

  /// A GPU's groups share its caches, which queries pass again and again. A processor's have their own.
  [[nodiscard]] std::int64_t groups_at_once() const noexcept {
    if (tile_.items() == 1) return queries_ / (panels_ * tile_.queries);
    constexpr std::int64_t kCachedQueryBytes = std::int64_t{12} << 20;
    return std::max<std::int64_t>(kCachedQueryBytes / (tile_.queries * depth_ * number_bytes()), 1);
  }

  [[nodiscard]] RegressionPacking packing_of(std::int64_t rows, std::int64_t padded,
                                             std::int64_t width) const noexcept {
    return {.rows = rows,
            .padded_rows = padded,
            .columns = problem_.columns,
            .depth = depth_,
            .width = width,
            .is_centred = 1};
  }
  [[nodiscard]] std::unique_ptr<CompiledKernel> compile(const char* function, std::string_view text,
                                                        const std::string& more_options = {},
                                                        bool is_for_sm_90a = false) const {
    const bool has_dp4a = device_.facts().has_dp4a && tile_.numbers == 4 && tile_.width == 4;
    return compile_regression(problem_, device_, function, text,
                              backend::sentence(" -DNUMBERS=", tile_.numbers, " -DWIDTH=", tile_.width, " -DDP4A=",
                                                has_dp4a ? 1 : 0, " -DBLOCK_ROWS=", shape_.rows_of_chunk, more_options),
                              is_for_sm_90a);
  }
  [[nodiscard]] std::unique_ptr<CompiledKernel> compile_pack(const char* function) const {
    const auto text = std::string_view(function) == kPackSplit ? embedded::kernel_regression_pack_split
                                                               : embedded::kernel_regression_pack;
    return compile(function, text,
                   backend::sentence(" -DGROUP=", group_of_length(), " -DTENSOR=", tile_.is_of_bytes_tensor() ? 1 : 0,
                                     " -DCHUNKS=", tile_.is_of_warp_groups ? 1 : 0));
  }
  [[nodiscard]] std::int64_t group_of_length() const noexcept {
    return std::min<std::int64_t>(64, regression_group(device_.facts()));
  }

  [[nodiscard]] OperatorLaunch line(const char* function, std::int64_t items, std::vector<MemoryArgument> memory,
                                    const RegressionPacking& packing) const {
    OperatorLaunch launch;
    launch.kernel = compile_pack(function);
    launch.range = line_of(*launch.kernel, static_cast<std::uint64_t>(items));
    launch.memory = std::move(memory);
    launch.set_structs(packing);
    return launch;
  }
  /// A group a row.
  [[nodiscard]] OperatorLaunch by_groups(const char* function, std::vector<MemoryArgument> memory,
                                         const RegressionPacking& packing) const {
    OperatorLaunch launch;
    launch.kernel = compile_pack(function);
    launch.range = groups_of(packing.padded_rows, group_of_length());
    launch.memory = std::move(memory);
    launch.set_structs(packing);
    return launch;
  }
  [[nodiscard]] OperatorLaunch pack(const MemoryArgument& raw, const MemoryArgument& centre,
                                    const MemoryArgument& lengths, const MemoryArgument& panels,
                                    const RegressionPacking& packing) const {
    return line("kernel_regression_pack", packing.padded_rows * ceil_div(depth_, kPackedAtOnce),
                {raw, centre, lengths, panels}, packing);
  }

  [[nodiscard]] std::unique_ptr<CompiledKernel> compile_tiles() const {
    const RegressionProgram program = regression_program(tile_, {.depth = depth_,
                                                                 .panels = panels_,
                                                                 .blocks_of_group = blocks_of_group(),
                                                                 .is_euclidean = shape_.is_euclidean != 0});
    return compile(program.function, program.text, program.options, program.is_for_sm_90a);
  }
  [[nodiscard]] OperatorLaunch tiles() const {
    OperatorLaunch launch;
    launch.kernel = compile_tiles();
    const RegressionTiling tiling{.depth = depth_,
                                  .row_panels = row_panels_,
                                  .query_panels = query_panels() - query_lengths(),
                                  .query_groups = queries_ / (panels_ * tile_.queries),
                                  .groups_at_once = groups_at_once()};
    launch.range = groups_of(ceil_div(blocks_, blocks_of_group()) * tiling.query_groups, tile_.items());
    launch.memory = {prepared(0), {.place = 2, .type = problem_.result_type()}, workspace(query_lengths()), states()};
    launch.set_structs(shape_, tiling);
    return launch;
  }
  [[nodiscard]] OperatorLaunch join() const {
    const DataType result = problem_.result_type();
    const std::int64_t group = std::min<std::int64_t>(32, regression_group(device_.facts()));
    OperatorLaunch launch;
    launch.kernel =
        compile("kernel_regression_join", embedded::kernel_regression_join, backend::sentence(" -DGROUP=", group));
    launch.range = groups_of(queries_, group);
    launch.memory = {states(),
                     {.place = 3, .type = result},
                     {.place = 4, .type = result},
                     {.place = 5, .type = DataType::int64},
                     {.place = 6, .type = problem_.squared_type()},
                     {.place = 7, .type = result},
                     {.place = 8, .type = DataType::float64},
                     {.place = 9, .type = DataType::float64}};
    launch.set_structs(shape_);
    return launch;
  }
  [[nodiscard]] MemoryArgument states() const noexcept {
    return {.place = MemoryArgument::kWorkspace, .type = DataType::float64};
  }
  [[nodiscard]] static NdRange groups_of(std::int64_t groups, std::int64_t items) noexcept {
    return {1, {static_cast<std::size_t>(groups * items), 1, 1}, {static_cast<std::size_t>(items), 1, 1}};
  }

  const KernelRegression& problem_;
  const OpenclDevice& device_;
  RegressionTile tile_;
  RegressionShape shape_{};
  std::int64_t depth_ = 0;
  std::int64_t padded_rows_ = 0;
  std::int64_t blocks_ = 0;
  std::int64_t centre_ = 0;      ///< where it begins, in prepared numbers
  std::int64_t row_panels_ = 0;  ///< where these begin
  std::int64_t panels_ = 1;      ///< of queries, of a group
  std::int64_t queries_ = 0;     ///< of a round, with those that do not exist
};

}  // namespace

std::unique_ptr<backend::Kernel> make_regression_tiles(const KernelRegression& problem, const OpenclDevice& device,
                                                       const Tuning& tuning, const RegressionTiles& tiles) {
  const auto chosen = std::find_if(tiles.begin(), tiles.end(), [&](const RegressionTile& tile) {
    return tile.queries == tuning.at("tile_queries") && tile.rows == tuning.at("tile_rows");
  });
  const TilesPlan plan(problem, device, *chosen);
  return std::make_unique<OpenclKernel>(plan.run(), plan.workspace_bytes(), plan.preparation());
}

}  // namespace tessera::opencl
