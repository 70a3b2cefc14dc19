// conv2d, marching and separable: down a strip of columns, one work-item alone (conv2d_marching.cl) or 32 together
// (conv2d_marching_lanes.cl), or along the bands of a wide strip (conv2d_marching_bands.cl), which is for processors.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/conv2d_filter.h"
#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "opencl_known_faults.h"
#include "ops/conv2d/conv2d_images.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// Columns of a strip, in the three ways to march: one work-item alone; kLanes work-items with kPixels each; one
/// work-item in bands.
constexpr std::array<std::int64_t, 2> kAlone{8, 16};
constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kPixels = 4;
constexpr std::int64_t kTogether = kLanes * kPixels;
/// Wide strips use whole pages of a large image: 3 x 3 on 4096 x 4096 in float takes 6.2 ms so and 9.5 ms with strips
/// of 256 columns (PoCL on two cores of a Xeon). Wider ones gain little.
constexpr std::int64_t kInBands = 1024;
constexpr std::array<std::int64_t, 5> kRowsPerRun{8, 16, 32, 64, 128};
constexpr std::int64_t kRowsOnProcessors = 16;

bool is_gpu(const backend::Device& device) {
  return native(device).facts().info.kind == DeviceKind::gpu;
}

bool has_lanes(const backend::Device& device) {
  return native(device).facts().info.max_group_size >= static_cast<std::uint64_t>(kLanes);
}

Verdict check_march(const Conv2d& problem, const backend::Device& device, std::string_view variant) {
  if (const Verdict known = check_known_faults("conv2d", variant, native(device).facts()); !known) return known;
  if (const Verdict size = backend::check_square_3_5_7(problem); !size) return size;
  return check_groups("conv2d", conv2d_blocks(problem, kRowsPerRun.front(), kAlone.front()));
}

Verdict check_marching(const Conv2d& problem, const backend::Device& device) {
  return check_march(problem, device, "marching");
}

Verdict check_separable(const Conv2d& problem, const backend::Device& device) {
  const Verdict march = check_march(problem, device, "separable");
  return march ? backend::check_rank_one(problem) : march;
}

/// Rows of a run on a GPU: the longest runs that still give every compute unit enough groups, because a run reads the
/// filter's rows above and below it again. Where a row has few products, runs are shorter: more groups hide the latency
/// better. The figures are what was fastest for int32, 4096 x 4096 on an H200 (driver 580).
std::int64_t rows_on_gpu(const Conv2d& problem, std::uint64_t compute_units, std::int64_t strip, bool is_separable) {
  constexpr std::uint64_t kGroupsPerUnit = 15;
  std::int64_t most = kRowsPerRun.back();
  if (!is_separable && problem.filter_height == 3) most = 8;
  if (!is_separable && problem.filter_height == 5) most = 16;
  std::int64_t rows = kRowsPerRun.front();
  for (const std::int64_t candidate : kRowsPerRun) {
    if (candidate <= most && conv2d_blocks(problem, candidate, strip) >= kGroupsPerUnit * compute_units) {
      rows = candidate;
    }
  }
  return rows;
}

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device, bool is_separable) {
  Tunable strip{.name = "strip",
                .meaning =
                    "columns that a work-group walks down: 128 by 32 work-items together, fewer by one alone, "
                    "1024 by one alone in bands from left to right",
                .values = {kAlone.begin(), kAlone.end()},
                .preferred = kAlone.back()};
  if (has_lanes(device)) strip.values.push_back(kTogether);
  if (has_lanes(device) && is_gpu(device)) strip.preferred = kTogether;
  if (native(device).facts().is_processor) {
    strip.values.push_back(kInBands);
    if (!is_gpu(device)) strip.preferred = kInBands;
  }
  Tunable rows{.name = "rows_per_run", .meaning = "rows of the output that one work-item computes", .values = {}};
  rows.values.assign(kRowsPerRun.begin(), kRowsPerRun.end());
  rows.preferred = kRowsOnProcessors;
  // On a processor short runs leave no thread idle at the end, and the rows that two of them share are still in the
  // second-level cache.
  if (!is_gpu(device)) return {strip, rows};
  rows.preferred = rows_on_gpu(problem, native(device).facts().info.compute_units, strip.preferred, is_separable);
  return {strip, rows};
}

/// Weights of a filter as the kernels hold them: row by row; for a separable filter its column, then its row.
struct Weights {
  std::vector<double> values;
  bool is_separable = false;
};

std::string options_of(const Conv2d& problem, const Weights& weights) {
  return sentence(" -DSIZE=", problem.filter_height, " -DSEPARABLE=", weights.is_separable ? 1 : 0);
}

/// A kernel of a work-item alone, which takes the weights by value: its text, its options, and what
/// it sums in.
struct Alone {
  std::string name;
  std::string_view text;
  std::string options;
  Conv2dSums sums = Conv2dSums::output_type;
};

Alone down_a_strip(std::int64_t columns) {
  return {.name = "conv2d_marching", .text = embedded::conv2d_marching, .options = sentence(" -DCOLUMNS=", columns)};
}

/// March along bands, with as many sums as the registers hold beside the vectors that are shifted. AVX-512 has 32
/// registers, other instruction sets 16.
Alone along_bands(const Conv2d& problem, const DeviceFacts& facts) {
  const bool has_avx512 = facts.vector_bytes == 16 * sizeof(cl_float);
  const bool is_exact = problem.type != DataType::float32 && backend::is_exact_in_float32(problem);
  return {.name = "conv2d_marching_bands",
          .text = embedded::conv2d_marching_bands,
          .options = sentence(" -DSTRIP=", kInBands, " -DCOLUMNS=", has_avx512 ? 16 : 8, " -DROWS=", has_avx512 ? 8 : 4,
                              " -DEXACT_INTEGERS=", is_exact ? 1 : 0),
          .sums = is_exact ? Conv2dSums::in_float : Conv2dSums::output_type};
}

std::unique_ptr<backend::Kernel> make_alone(const Conv2d& problem, const OpenclDevice& device, const Weights& weights,
                                            std::int64_t strip, std::int64_t rows) {
  const Alone alone = strip == kInBands ? along_bands(problem, device.facts()) : down_a_strip(strip);
  const auto& program = device.programs().build_once(
      conv2d_program(alone.name, alone.text, problem, options_of(problem, weights) + alone.options, alone.sums));
  auto kernel = std::make_unique<CompiledKernel>(device.context(), program.get(), alone.name);
  kernel->set(kFirstConv2dExtra, static_cast<cl_int>(rows));
  std::vector<std::uint32_t> bits = conv2d_weight_bits(problem, weights.values, alone.sums);
  bits.resize(static_cast<std::size_t>(problem.filter_height * problem.filter_width));
  kernel->set(kFirstConv2dExtra + 1, bits.size() * sizeof(std::uint32_t), bits.data());
  std::vector<OperatorLaunch> launches;
  launches.push_back(conv2d_launch(std::move(kernel), problem, {1, 1, rows, strip}));
  return std::make_unique<OperatorKernel>(std::move(launches));
}

/// Loads and stores vectors where the operands of a launch allow it, else pixels.
class TogetherKernel final : public backend::Kernel {
 public:
  TogetherKernel(const Conv2d& problem, backend::Device& device, const Weights& weights, std::int64_t rows)
      : pixels_(make(problem, device, weights, rows, false)),
        image_alignment_(static_cast<std::uint64_t>(kPixels) * size_bytes(problem.type)),
        output_alignment_(static_cast<std::uint64_t>(kPixels) * size_bytes(problem.output_type())) {
    const bool fits = problem.width % kPixels == 0 && problem.output_width() % kPixels == 0 &&
                      (problem.filter_width / 2 - problem.anchor_x) % kPixels == 0;
    if (fits) vectors_ = make(problem, device, weights, rows, true);
  }

  [[nodiscard]] std::size_t held_bytes() const override {
    return pixels_->held_bytes() + (vectors_ != nullptr ? vectors_->held_bytes() : 0);
  }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    const bool is_aligned =
        operands[0].offset_bytes % image_alignment_ == 0 && operands[1].offset_bytes % output_alignment_ == 0;
    (vectors_ != nullptr && is_aligned ? vectors_ : pixels_)->launch(queue, operands, workspace);
  }

 private:
  static std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Weights& weights,
                                               std::int64_t rows, bool vectors) {
    const OpenclDevice& opencl = native(device);
    const auto& program = opencl.programs().build_once(
        conv2d_program("conv2d_marching_lanes", embedded::conv2d_marching_lanes, problem,
                       options_of(problem, weights) +
                           sentence(" -DSHUFFLES=", opencl.facts().is_nvidia ? 1 : 0, " -DVECTORS=", vectors ? 1 : 0)));
    auto kernel = std::make_unique<CompiledKernel>(opencl.context(), program.get(), "conv2d_marching_lanes");
    kernel->set(kFirstConv2dExtra + 1, static_cast<cl_int>(rows));
    return bind_conv2d_weights(conv2d_launch(std::move(kernel), problem, {1, kLanes, rows, kTogether}),
                               conv2d_weight_bits(problem, weights.values), device);
  }

  std::unique_ptr<backend::Kernel> vectors_;  // null where rows are not aligned
  std::unique_ptr<backend::Kernel> pixels_;
  std::uint64_t image_alignment_;
  std::uint64_t output_alignment_;
};

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning,
                                      const Weights& weights) {
  const std::int64_t strip = tuning.at("strip");
  const std::int64_t rows = tuning.at("rows_per_run");
  if (strip == kTogether) return std::make_unique<TogetherKernel>(problem, device, weights, rows);
  return make_alone(problem, native(device), weights, strip, rows);
}

}  // namespace

backend::Variant<Conv2d> conv2d_marching() {
  return {
      .name = "marching",
      .summary = "work-items march down a strip with the sums in registers; filters of 3, 5 and 7",
      .check = check_marching,
      .tunables = [](const Conv2d& problem, const backend::Device& device) { return tunables(problem, device, false); },
      .make =
          [](const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
            return make(problem, device, tuning, {problem.filter, false});
          }};
}

backend::Variant<Conv2d> conv2d_separable() {
  return {
      .name = "separable",
      .summary = "the march for filters that are a column times a row",
      .check = check_separable,
      .tunables = [](const Conv2d& problem, const backend::Device& device) { return tunables(problem, device, true); },
      .make =
          [](const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
            const auto factors = *backend::rank_one_factors(problem);
            std::vector<double> weights = factors.column;
            weights.insert(weights.end(), factors.row.begin(), factors.row.end());
            return make(problem, device, tuning, {std::move(weights), true});
          }};
}

}  // namespace tessera::opencl
