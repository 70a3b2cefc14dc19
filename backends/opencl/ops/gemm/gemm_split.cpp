// gemm, split: float32 products by the fp16 tensor cores of NVIDIA's sm_80 and newer. A first launch scales and rounds
// A and B into the workspace, a second one multiplies. Sums that may be off by more than the bound allows are found and
// computed anew by the second one. The same algorithm, and the same bound, as CUDA's.
#include "ops/gemm/gemm_split.h"

#include <algorithm>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "mathematics/gemm_split_bound.h"
#include "opencl_embedded.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::GemmSplitKind;
using mathematics::round_up;

constexpr std::int64_t kRowStepBytes = kGemmSplitRowStepBytes, kNoteBytes = kGemmSplitNoteBytes;
/// Tiles of both operands in local memory.
constexpr std::uint64_t kLocalBytes = 49152;
/// One product may take this part of the card's memory for its copies.
constexpr std::uint64_t kMemoryShare = 4;
/// Rows of C in flight side by side, so that their panels and those of as many columns are read through the L2 cache.
constexpr std::int64_t kBandRows = 2048;
/// Work-items of a group that prepares, and rows that it takes.
constexpr std::int64_t kPrepareItems = 1024, kPrepareRows = 16;

std::int64_t matrices(std::int64_t stride, std::int64_t batch) {
  return stride == 0 ? 1 : batch;
}

/// Bytes of panels and notes of one product with tiles of 128, the largest. In double: a problem may be larger than any
/// number of bytes.
double copy_bytes(const Gemm& problem) {
  constexpr std::int64_t kTile = 128;
  const auto rows = static_cast<double>(round_up(problem.m, kTile)) + static_cast<double>(round_up(problem.n, kTile));
  return rows * (static_cast<double>(gemm_split_steps(problem)) * kRowStepBytes + kNoteBytes);
}

/// What lies where in the workspace, for the products of a round.
class Workspace {
 public:
  Workspace(const Gemm& problem, const GemmSplitShape& shape, std::int64_t batch) {
    constexpr std::int64_t kAlignment = 256;
    const auto take = [this](std::int64_t bytes) {
      return std::exchange(bytes_, bytes_ + round_up(bytes, kAlignment));
    };
    plan_.steps = gemm_split_steps(problem);
    plan_.a_rows = round_up(problem.m, shape.tile_m());
    plan_.b_rows = round_up(problem.n, shape.tile_n());
    plan_.a_matrices = matrices(problem.stride_a, batch);
    plan_.b_matrices = matrices(problem.stride_b, batch);
    const std::int64_t a_rows = plan_.a_matrices * plan_.a_rows;
    const std::int64_t b_rows = plan_.b_matrices * plan_.b_rows;
    take(a_rows * plan_.steps * kRowStepBytes);
    plan_.b_panels = take(b_rows * plan_.steps * kRowStepBytes);
    plan_.a_notes = take(a_rows * kNoteBytes);
    plan_.b_notes = take(b_rows * kNoteBytes);
    plan_.batch = batch;
    plan_.band = static_cast<cl_int>(gemm_split_band(shape, plan_.a_rows));
    // 2^-25 for an element, times up to 2^15, as often in both operands; a sum of true size is at least half of one
    // found.
    plan_.doubt_of_one = static_cast<cl_float>(0x1p15 / mathematics::tiny_allowance(problem));
  }
  [[nodiscard]] const GemmSplitPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

 private:
  GemmSplitPlan plan_{};
  std::int64_t bytes_ = 0;
};

NdRange groups_of(std::int64_t groups, std::int64_t items) {
  return {1, {static_cast<std::size_t>(groups * items), 1, 1}, {static_cast<std::size_t>(items), 1, 1}};
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& opened, const Tuning& tuning) {
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    return std::make_unique<OpenclKernel>(std::vector<OperatorLaunch>{});
  }
  const OpenclDevice& device = native(opened);
  const GemmSplitShape& shape = gemm_split_shape(tuning, device);
  const Gemm computed = gemm_as_computed(problem);
  const std::int64_t each = Workspace(computed, shape, 1).bytes();
  const std::int64_t batch = std::clamp<std::int64_t>(kMostWorkspaceBytes / each, 1, computed.batch);
  const Workspace workspace(computed, shape, batch);

  const MemoryArgument copies{.place = MemoryArgument::kWorkspace, .type = DataType::uint8};
  std::vector<MemoryArgument> operands = gemm_operands(problem);
  OperatorRun run;
  run.launches.push_back(
      launch_of_split_preparation(computed, device, shape, workspace.plan(), {operands[0], operands[1], copies}));
  const std::int64_t tiles = workspace.plan().a_rows / shape.tile_m() * (workspace.plan().b_rows / shape.tile_n());
  OperatorLaunch multiply;
  multiply.kernel =
      device.kernel(gemm_split_program("gemm_split_products", embedded::gemm_split_products, problem, shape));
  multiply.range = groups_of(tiles * batch, shape.items());
  multiply.memory = std::move(operands);
  multiply.memory.push_back(copies);
  set_gemm_structs(multiply, computed, workspace.plan());
  run.launches.push_back(std::move(multiply));
  run.rounds = ceil_div(computed.batch, batch);
  return std::make_unique<OpenclKernel>(std::move(run), static_cast<std::size_t>(workspace.bytes()));
}

double error_factor(const Gemm& problem, std::int64_t panel_depth) {
  return mathematics::gemm_split_error_factor(gemm_as_computed(problem), GemmSplitKind::split, panel_depth);
}

Verdict check(const Gemm& problem, const backend::Device& opened) {
  if (problem.accuracy == Accuracy::strict) {
    return Verdict::no("the accuracy of gemm is strict, but split makes each product from three of shorter numbers");
  }
  if (problem.type != DataType::float32) {
    return Verdict::no(sentence("type of gemm is ", to_string(problem.type), ", but must be float32"));
  }
  const DeviceFacts& facts = native(opened).facts();
  if (Verdict verdict = check_gemm_split_device(facts); !verdict) return verdict;
  const double bytes = copy_bytes(problem);
  const std::uint64_t most = std::min(facts.info.memory_total_bytes / kMemoryShare, facts.info.max_allocation_bytes);
  if (bytes > static_cast<double>(most)) {
    return Verdict::no(sentence("the prepared copies of A and B take ", bytes, " bytes, but must take at most ", most,
                                ", a quarter of the device's memory"));
  }
  return check_groups("gemm", gemm_blocks(problem, 32, 64));
}

}  // namespace

backend::Verdict check_gemm_split_device(const DeviceFacts& facts) {
  if (!facts.has_tensor_cores) {
    return Verdict::no(
        sentence("'", facts.info.name, "' has no tensor cores of NVIDIA's sm_80 or newer, by which split multiplies"));
  }
  if (facts.info.local_memory_bytes < kLocalBytes) {
    return Verdict::no(sentence("split takes ", kLocalBytes, " bytes of local memory, but '", facts.info.name, "' has ",
                                facts.info.local_memory_bytes));
  }
  return Verdict::yes();
}

ProgramSource gemm_split_program(std::string name, std::string_view text, const Gemm& problem,
                                 const GemmSplitShape& shape) {
  ProgramSource source = gemm_program(std::move(name), text, problem, shape.options());
  source.is_for_sm_90a = shape.warp_groups > 0;
  return source;
}

std::int64_t gemm_split_band(const GemmSplitShape& shape, std::int64_t rows) noexcept {
  return std::clamp<std::int64_t>(kBandRows / shape.tile_m(), 1, std::max<std::int64_t>(rows / shape.tile_m(), 1));
}

OperatorLaunch launch_of_split_preparation(const Gemm& problem, const OpenclDevice& device, const GemmSplitShape& shape,
                                           const GemmSplitPlan& plan, std::vector<MemoryArgument> memory) {
  OperatorLaunch launch;
  launch.kernel = device.kernel(gemm_program("gemm_split_prepare", embedded::gemm_split_prepare, problem,
                                             sentence(" -DTILE_M=", shape.tile_m(), shape.prepare_options())));
  const std::int64_t rows = plan.a_matrices * plan.a_rows + plan.b_matrices * plan.b_rows;
  launch.range = groups_of(rows / kPrepareRows, kPrepareItems);
  launch.memory = std::move(memory);
  set_gemm_structs(launch, problem, plan);
  return launch;
}

backend::Variant<Gemm> gemm_split() {
  return {
      .name = "split",
      .summary = "float32 as sums of two fp16, three products by NVIDIA's tensor cores, added up in float32",
      .check = check,
      .tunables = [](const Gemm& problem,
                     const backend::Device& device) { return gemm_split_tunables(problem, native(device)); },
      .make = make,
      .error_factor_of =
          [](const Gemm& problem, const backend::Device& device) {
            double largest = 1;
            for (const std::int64_t depth : gemm_split_panel_depths(native(device))) {
              largest = std::max(largest, error_factor(problem, depth));
            }
            return largest;
          },
      .pays = [](const Gemm& problem,
                 const backend::Device& device) { return gemm_split_pays(gemm_as_computed(problem), native(device)); },
      .error_factor_with =
          [](const Gemm& problem, const backend::Device& device, const Tuning& tuning) {
            return error_factor(problem, gemm_split_shape(tuning, native(device)).panel_depth());
          },
  };
}

}  // namespace tessera::opencl
