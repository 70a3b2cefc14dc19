// gemm, register, from panels: shapes, the workspace and launches. See gemm_register_panels.cl.
#include <algorithm>
#include <utility>

#include "opencl_embedded.h"
#include "ops/gemm/gemm_register.h"

namespace tessera::opencl {

namespace {

/// What gemm_register_panels.cl leaves open: the tile of C and the elements of a vector.
struct Shape {
  std::int64_t work_m;
  std::int64_t work_n;
  std::int64_t width;
};

/// As many rows as leave registers for a row of B: processors with vectors of 64 bytes have 32 registers, others at
/// least 16. gemm_register_panels.cl says what was measured.
Shape shape_of(std::int64_t tile, DataType type, const DeviceFacts& facts) {
  const auto width = static_cast<std::int64_t>(facts.vector_bytes / size_bytes(type));
  const std::int64_t vectors = std::max<std::int64_t>(tile / width, 1);
  const std::int64_t registers = facts.vector_bytes == 64 ? 28 : 12;
  const std::int64_t rows = std::clamp<std::int64_t>(registers / vectors, 1, 14);
  return {vectors == 4 && rows == 7 ? 6 : rows, vectors * width, width};
}

/// With up to so many rows of C copying B into panels would take longer than reading it as it is.
constexpr std::int64_t kFewRows = 12;
/// Elements of a panel that one work-item copies, and steps of p at least. Smaller pieces only make more groups, and on
/// 16 cores PoCL 5.0 took longer to hand those out than to copy.
constexpr std::int64_t kElementsOfPiece = 16384;
constexpr std::int64_t kShortestPiece = 256;
/// The most tiles below each other that one work-item computes, and how many groups for each thread are enough.
constexpr std::int64_t kMostTiles = 8;
constexpr std::int64_t kGroupsForEachUnit = 8;

/// A range of the batch's results that one pair of launches computes.
struct Pass {
  std::int64_t product = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  Gemm problem;                          ///< of the range
  std::vector<MemoryArgument> operands;  ///< of the whole problem
};

class Plan {
 public:
  Plan(const Oriented& oriented, const Shape& shape, std::int64_t split_k)
      : oriented_(oriented), problem_(oriented.problem), shape_(shape), parts_(cut_k(problem_, split_k, 1)) {
    // Where panels and parts do not fit the workspace together, k is not split.
    if (parts_.count > 1 && parts_.elements + panel_elements(problem_) > most_elements()) {
      parts_ = cut_k(problem_, 1, 1);
    }
    largest_ = problem_;
    if (parts_.count == 1) shrink_to_workspace();
  }

  [[nodiscard]] const KParts& parts() const noexcept { return parts_; }
  [[nodiscard]] std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(panel_elements(largest_) + parts_.elements) * size_bytes(problem_.type);
  }
  [[nodiscard]] std::int64_t a_elements(const Gemm& pass) const {
    return products(pass, pass.stride_a) * pieces_of(pass.m, shape_.work_m) * shape_.work_m * pass.k;
  }
  [[nodiscard]] std::int64_t b_elements(const Gemm& pass) const {
    return products(pass, pass.stride_b) * b_copied(pass) * shape_.work_n * pass.k;
  }
  /// Where B's panels begin: behind the most that A's take.
  [[nodiscard]] std::int64_t b_first() const { return a_elements(largest_); }
  /// Panels of a product's B that are read as they are stored.
  [[nodiscard]] std::int64_t b_direct(const Gemm& pass) const {
    return !pass.transpose_b && problem_.m <= kFewRows ? pass.n / shape_.work_n : 0;
  }
  [[nodiscard]] std::int64_t b_copied(const Gemm& pass) const {
    return pieces_of(pass.n, shape_.work_n) - b_direct(pass);
  }
  /// How many matrices of an operand a pass copies.
  [[nodiscard]] static std::int64_t products(const Gemm& pass, std::int64_t stride) {
    return stride == 0 ? std::min<std::int64_t>(pass.batch, 1) : pass.batch;
  }

  template <class Visit>
  void for_each_pass(Visit visit) const {
    for (std::int64_t product = 0; product < problem_.batch; product += largest_.batch) {
      for (std::int64_t column = 0; column < problem_.n; column += largest_.n) {
        for (std::int64_t row = 0; row < problem_.m; row += largest_.m) {
          Pass pass{product, row, column, problem_, oriented_.operands()};
          pass.problem.batch = std::min(largest_.batch, problem_.batch - product);
          pass.problem.n = std::min(largest_.n, problem_.n - column);
          pass.problem.m = std::min(largest_.m, problem_.m - row);
          visit(pass);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t most_elements() const {
    return kMostWorkspaceBytes / static_cast<std::int64_t>(size_bytes(problem_.type));
  }
  [[nodiscard]] std::int64_t panel_elements(const Gemm& pass) const { return a_elements(pass) + b_elements(pass); }

  /// First fewer products, then fewer columns or rows, whichever take more. Columns that are read in place take
  /// nothing, and stay together: a pass may have one copied panel behind them.
  void shrink_to_workspace() {
    const auto halve = [](std::int64_t& length, std::int64_t multiple) {
      length = pieces_of(pieces_of(length, multiple), 2) * multiple;
    };
    while (panel_elements(largest_) > most_elements()) {
      if (largest_.batch > 1) {
        halve(largest_.batch, 1);
      } else if (largest_.m > shape_.work_m &&
                 (a_elements(largest_) > b_elements(largest_) || b_copied(largest_) <= 1)) {
        halve(largest_.m, shape_.work_m);
      } else if (b_copied(largest_) > 1) {
        halve(largest_.n, shape_.work_n);
      } else {
        break;
      }
    }
  }

  Oriented oriented_;
  Gemm problem_;
  Shape shape_;
  KParts parts_;
  Gemm largest_;  // of the passes
};

MemoryArgument workspace_from(DataType type, std::int64_t element) {
  return {.place = MemoryArgument::kWorkspace, .type = type, .first_element = static_cast<std::uint64_t>(element)};
}

NdRange one_item_groups(std::int64_t groups) {
  return {1, {static_cast<std::size_t>(groups), 1, 1}, {1, 1, 1}};
}

/// A pass's operands, each from where the pass begins.
std::vector<MemoryArgument> operands_of(const Pass& pass) {
  const Gemm& p = pass.problem;
  std::vector<MemoryArgument> operands = pass.operands;
  operands[0].first_element =
      static_cast<std::uint64_t>(pass.product * p.stride_a + pass.row * (p.transpose_a ? 1 : p.lda));
  operands[1].first_element =
      static_cast<std::uint64_t>(pass.product * p.stride_b + pass.column * (p.transpose_b ? p.ldb : 1));
  operands[2].first_element = static_cast<std::uint64_t>(pass.product * p.stride_c + pass.row * p.ldc + pass.column);
  return operands;
}

/// Copies A, and B too unless the pass before has copied the same.
OperatorLaunch launch_of_pack(std::unique_ptr<CompiledKernel> kernel, const Pass& pass, const Plan& plan,
                              const Shape& shape, std::uint64_t units) {
  const Gemm& p = pass.problem;
  const auto piece_of = [&](std::int64_t panels, std::int64_t width) {
    std::int64_t piece = kElementsOfPiece / width;
    const std::int64_t groups_wanted = kGroupsForEachUnit * static_cast<std::int64_t>(units);
    while (piece > kShortestPiece && panels * pieces_of(p.k, piece) < groups_wanted) piece /= 2;
    return piece;
  };
  const std::int64_t a_panels = Plan::products(p, p.stride_a) * pieces_of(p.m, shape.work_m);
  const std::int64_t b_panels = pass.row == 0 ? Plan::products(p, p.stride_b) * plan.b_copied(p) : 0;
  const std::int64_t a_piece = piece_of(a_panels, shape.work_m);
  const std::int64_t b_piece = piece_of(b_panels, shape.work_n);
  const std::int64_t a_groups = a_panels * pieces_of(p.k, a_piece);
  const std::int64_t b_groups = b_panels * pieces_of(p.k, b_piece);
  const std::vector<MemoryArgument> operands = operands_of(pass);
  OperatorLaunch launch;
  launch.kernel = std::move(kernel);
  launch.range = one_item_groups(a_groups + b_groups);
  launch.memory = {operands[0], operands[1], workspace_from(p.type, 0)};
  launch.set_scalars(cl_long{p.m}, cl_long{p.n}, cl_long{p.k}, cl_long{p.transpose_a ? 1 : p.lda},
                     cl_long{p.transpose_a ? p.lda : 1}, cl_long{p.transpose_b ? p.ldb : 1},
                     cl_long{p.transpose_b ? 1 : p.ldb}, cl_long{p.stride_a}, cl_long{p.stride_b}, cl_long{a_groups},
                     cl_long{plan.b_first()}, cl_long{plan.b_direct(p)}, cl_long{a_piece}, cl_long{b_piece});
  return launch;
}

OperatorLaunch launch_of_multiply(std::unique_ptr<CompiledKernel> kernel, const Pass& pass, const Plan& plan,
                                  const Shape& shape, std::uint64_t units) {
  const KParts& parts = plan.parts();
  const Gemm& p = pass.problem;
  const Gemm results = parts.problem_of_sums(p);
  const std::int64_t rows_of_tiles = pieces_of(p.m, shape.work_m);
  const std::int64_t columns_of_tiles = pieces_of(p.n, shape.work_n) * p.batch * parts.count;
  const std::int64_t groups_wanted = kGroupsForEachUnit * static_cast<std::int64_t>(units);
  const std::int64_t tiles = std::clamp<std::int64_t>(rows_of_tiles * columns_of_tiles / groups_wanted, 1, kMostTiles);
  const std::vector<MemoryArgument> operands = operands_of(pass);
  const std::int64_t b_first = plan.b_first();
  OperatorLaunch launch;
  launch.kernel = std::move(kernel);
  launch.range = one_item_groups(columns_of_tiles * pieces_of(rows_of_tiles, tiles));
  launch.memory = {workspace_from(p.type, 0), operands[1],
                   parts.count > 1 ? workspace_from(p.type, b_first + plan.b_elements(p)) : operands[2]};
  const std::int64_t a_apart = p.stride_a == 0 ? 0 : rows_of_tiles * shape.work_m * p.k;
  const std::int64_t b_apart = p.stride_b == 0 ? 0 : plan.b_copied(p) * shape.work_n * p.k;
  with_real(p.type, [&](auto zero) {
    using Real = decltype(zero);
    launch.set_scalars(cl_long{p.m}, cl_long{p.n}, cl_long{p.k}, cl_long{p.ldb}, cl_long{results.ldc},
                       cl_long{p.stride_b}, cl_long{results.stride_c}, static_cast<Real>(results.alpha),
                       static_cast<Real>(results.beta), cl_long{p.batch}, cl_long{parts.length}, cl_long{a_apart},
                       cl_long{b_first}, cl_long{b_apart}, cl_long{plan.b_direct(p)}, cl_long{tiles});
  });
  return launch;
}

}  // namespace

backend::Verdict check_register_panels(const Gemm& problem, const OpenclDevice& device, std::int64_t tile) {
  // A tile's own panels may take more than what bounds the passes, but not without end.
  constexpr std::int64_t kMostPanelBytes = 16 * kMostWorkspaceBytes;
  const Shape shape = shape_of(tile, problem.type, device.facts());
  const std::string with = "gemm with tile = " + std::to_string(tile);
  const Oriented oriented = orient(gemm_as_computed(problem));
  const auto element_bytes = static_cast<std::int64_t>(size_bytes(problem.type));
  const std::int64_t longest_k = kMostPanelBytes / element_bytes / (shape.work_m + shape.work_n);
  if (oriented.problem.k > longest_k && !oriented.is_for_dots()) {
    return backend::Verdict::no("k of gemm is " + std::to_string(problem.k) + ", but " + with +
                                " copies panels whose k is at most " + std::to_string(longest_k));
  }
  // The smallest tile of any shape.
  return check_groups(with, gemm_blocks(oriented.problem, 1, 4));
}

std::unique_ptr<backend::Kernel> make_register_panels(const Gemm& problem, const OpenclDevice& device,
                                                      const RegisterTuning& tuning) {
  const Shape shape = shape_of(tuning.tile, problem.type, device.facts());
  const Oriented oriented = orient(gemm_as_computed(problem));
  if (oriented.is_for_dots()) return make_register_dots(oriented, device, tuning);
  const Gemm& computed = oriented.problem;
  const Plan plan(oriented, shape, tuning.split_k);
  const std::string options = " -DWORK_M=" + std::to_string(shape.work_m) +
                              " -DWORK_N=" + std::to_string(shape.work_n) + " -DWIDTH=" + std::to_string(shape.width);
  // How the operands are stored is an argument here: one program for all four transposes.
  Gemm as_stored = problem;
  as_stored.transpose_a = as_stored.transpose_b = false;
  const auto& program = device.programs().build_once(
      gemm_program("gemm_register_panels", embedded::gemm_register_panels, as_stored, options));
  const auto kernel = [&](const char* name) {
    return std::make_unique<CompiledKernel>(device.context(), program.get(), name);
  };

  std::vector<OperatorLaunch> launches;
  plan.for_each_pass([&](const Pass& pass) {
    launches.push_back(
        launch_of_pack(kernel("gemm_register_pack"), pass, plan, shape, device.facts().info.compute_units));
    launches.push_back(
        launch_of_multiply(kernel("gemm_register_panels"), pass, plan, shape, device.facts().info.compute_units));
  });
  if (plan.parts().count > 1) {
    const std::int64_t first = plan.a_elements(computed) + plan.b_elements(computed);
    launches.push_back(launch_of_sum(kernel("gemm_register_sum"), computed, plan.parts(), first));
  }
  return std::make_unique<OperatorKernel>(std::move(launches), plan.workspace_bytes());
}

}  // namespace tessera::opencl
