// The host code of "fused", "fused_split" and "exact_bytes": which tiles a card is offered, what is prepared, what lies
// where in the workspace, and the launches. "vendor_cublas" prepares, packs and joins by it too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/kernel_regression/kernel_regression_operands.h"
#include "ops/kernel_regression/kernel_regression_tiles_arguments.h"

namespace tessera::cuda {

/// How a variant packs rows.
struct RegressionPacking {
  std::int64_t depth_bytes;     ///< packed rows are multiples of it long
  const char* kernel = "pack";  ///< and of panels "pack_panels" or "pack_split"
  int offset = 0;               ///< taken off every byte
  bool across = false;          ///< packed rows lie side by side
  std::int64_t row_panel = 0;   ///< training rows of a panel
  std::int64_t query_panel = 0;
  /// A round's packed queries are a multiple of it; more than are given are zeros, infinitely far.
  std::int64_t query_rows = kRegressionPadding;

  /// Split rows have a factor each beside their length.
  [[nodiscard]] bool is_split() const noexcept { return kernel == std::string_view("pack_split"); }
};

/// Where things lie in prepared memory and in the workspace, in bytes; kernel_regression_tiles_arguments.h has the
/// picture.
class RegressionTilesPlan {
 public:
  /// `product_bytes`: of the workspace, for each query of a round.
  RegressionTilesPlan(const KernelRegression& problem, const RegressionPacking& packing, std::size_t product_bytes = 0);

  [[nodiscard]] std::int64_t depth() const noexcept { return depth_; }
  [[nodiscard]] std::int64_t block_rows() const noexcept { return block_rows_; }
  [[nodiscard]] std::int64_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::int64_t padded_rows() const noexcept { return padded_rows_; }
  /// Whose mean is the centre; 0 of bytes.
  [[nodiscard]] std::int64_t rows_of_centre() const noexcept { return rows_of_centre_; }
  /// Of a round, with those that do not exist: a multiple of kRegressionPadding.
  [[nodiscard]] std::int64_t queries() const noexcept { return queries_; }

  [[nodiscard]] std::size_t centre_at() const noexcept { return centre_at_; }
  [[nodiscard]] std::size_t rows_at() const noexcept { return rows_at_; }
  [[nodiscard]] std::size_t prepared_bytes() const noexcept { return prepared_bytes_; }
  [[nodiscard]] std::size_t query_lengths_at() const noexcept { return query_lengths_at_; }
  [[nodiscard]] std::size_t queries_at() const noexcept { return queries_at_; }
  [[nodiscard]] std::size_t products_at() const noexcept { return products_at_; }
  [[nodiscard]] std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }

 private:
  std::int64_t depth_ = 0;
  std::int64_t block_rows_ = 0;
  std::int64_t blocks_ = 0;
  std::int64_t padded_rows_ = 0;
  std::int64_t rows_of_centre_ = 0;
  std::int64_t queries_ = 0;
  std::size_t centre_at_ = 0;
  std::size_t rows_at_ = 0;
  std::size_t prepared_bytes_ = 0;
  std::size_t query_lengths_at_ = 0;
  std::size_t queries_at_ = 0;
  std::size_t products_at_ = 0;
  std::size_t workspace_bytes_ = 0;
};

/// A kernel that prepares the training set, takes queries in rounds, and joins states. A derived class launches what
/// computes a round's states.
template <class T>
class RegressionByStates : public backend::Kernel {
 public:
  using Tiles = RegressionTileArguments<T>;

  RegressionByStates(std::shared_ptr<Context> context, const KernelRegression& problem, const RegressionTilesPlan& plan,
                     const RegressionPacking& packing);

  [[nodiscard]] std::size_t workspace_bytes() const override { return plan_.workspace_bytes(); }
  [[nodiscard]] std::size_t prepared_bytes() const override { return plan_.prepared_bytes(); }
  void prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
               const backend::Slice& workspace) override;
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override;

 protected:
  [[nodiscard]] const RegressionTilesPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const KernelRegression& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::shared_ptr<Context>& context() const noexcept { return context_; }
  /// May a launch overlap the one before it?
  [[nodiscard]] bool overlaps() const noexcept { return context_->limits().compute_capability_major >= 9; }
  virtual void launch_round(backend::Queue& queue, Tiles& arguments, const backend::Slice& workspace) = 0;

 private:
  /// Where a number of so many packed rows lies.
  void set_steps(RegressionPackArguments<T>& arguments, std::int64_t rows, std::int64_t panel_rows) const noexcept;
  void enqueue_pack(backend::Queue& queue, RegressionPackArguments<T>& arguments) const;
  void prepare_centre(backend::Queue& queue, RegressionPackArguments<T> arguments,
                      const backend::Slice& prepared) const;
  void join(backend::Queue& queue, std::span<const backend::Slice> operands, const Tiles& arguments,
            std::int64_t first_query) const;

  std::shared_ptr<Context> context_;
  KernelRegression problem_;
  RegressionTilesPlan plan_;
  RegressionPacking packing_;
  CudaFunction pack_;
  CudaFunction join_;
  std::unique_ptr<CudaFunction> centre_;  ///< of rows with a fraction
};

extern template class RegressionByStates<std::uint8_t>;
extern template class RegressionByStates<float>;
extern template class RegressionByStates<double>;

/// Of a tile that is computed by warp groups of Hopper: clusters take pieces until there are none.
struct RegressionClusters {
  int blocks = 0;  ///< of a cluster; 0: a group computes one piece, and no cluster
  int pieces = 1;  ///< that it computes at a time
  int time = 0;    ///< of a piece, where a group of other tiles takes as long as it has queries
};

/// What a query takes in most tiles.
inline constexpr std::int64_t kRegressionEffort = 100;

/// A compiled tile of distances.
struct RegressionTile {
  std::int64_t queries;
  std::int64_t rows;
  std::int64_t threads;
  std::int64_t blocks;  ///< groups that fit on a multiprocessor together
  std::size_t shared_bytes;
  Image image;
  std::string function;
  RegressionPacking packing;
  RegressionClusters clusters;
  std::int64_t effort = kRegressionEffort;  ///< that a query takes, beside other tiles
};

/// Yes unless the rows are bytes, and so many that a distance does not fit an int32.
[[nodiscard]] backend::Verdict check_regression_bytes(const KernelRegression& problem);

/// Yes unless a launch takes more groups than the card allows.
[[nodiscard]] backend::Verdict check_regression_groups(const KernelRegression& problem, const backend::Device& device);

/// The same, and unless the card has too little shared memory for the smallest of these tiles.
[[nodiscard]] backend::Verdict check_regression_tiles(const KernelRegression& problem, const backend::Device& device,
                                                      const std::vector<RegressionTile>& tiles);

/// tile_queries and tile_rows, in pairs, of the tiles that the card takes; the preferred ones.
[[nodiscard]] std::vector<Tunable> regression_tile_tunables(const KernelRegression& problem,
                                                            const backend::Device& device,
                                                            const std::vector<RegressionTile>& tiles);

/// Computes states by one of the tiles.
[[nodiscard]] std::unique_ptr<backend::Kernel> make_regression_tiles(const KernelRegression& problem,
                                                                     const std::shared_ptr<Context>& context,
                                                                     const RegressionTile& tile);

/// The one with the tunables' values.
[[nodiscard]] const RegressionTile& chosen_tile(const std::vector<RegressionTile>& tiles, const Tuning& tuning);

}  // namespace tessera::cuda
