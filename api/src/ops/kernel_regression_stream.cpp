// kernel_regression in slabs: batches of queries, and for each of them the training set in slabs of rows. What fits is
// not cut: first all queries stay together, which spares uploads of the training set, then the training set does.
//
//   step   0           1           2           3           4 ...      A slab goes on from the state that the one before
//   queries batch 0                            batch 1                has left; two states in turn, zeros before the
//   rows   0 .. 4095   .. 8191     .. 9999     0 .. 4095   ...        first. Results are downloaded after the last.
//   state  0 -> 1      1 -> 0      0 -> 1      0 -> 1
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <tessera/queue.h>

#include "../slab_pipeline.h"
#include "../stream_memory.h"
#include "backend/sentence.h"
#include "stream_choice.h"
#include "streams.h"

namespace tessera::detail {
namespace {

/// Queries of a batch are a multiple of so many: a vendor's product may round otherwise for another number of rows.
constexpr std::int64_t kBatchUnit = 2048;

/// Rows of a slab and queries of a batch, but for the last ones.
struct RegressionCut {
  std::int64_t rows = 0;
  std::int64_t queries = 0;
};

class RegressionStream {
 public:
  RegressionStream(const Device& device, const KernelRegression& whole, const KernelRegression::HostOperands& host,
                   const StreamOptions& options)
      : device_(device), whole_(whole), host_(host), options_(options.kernel), limit_(*device.core(), options) {
    choose_for_slabs(device_, whole_, options.kernel, [&](const KernelOptions& chosen) {
      options_ = chosen;
      kernels_.clear();
      cut_ = {};
      choose_cut();
      slabs_ = parts(whole_.training_rows, cut_.rows);
      batches_ = parts(whole_.queries, cut_.queries);
      // Slabs and batches have one size, and the last ones another.
      if (steps() == 0) return;
      for (const std::int64_t batch : {std::int64_t{0}, batches_ - 1}) {
        static_cast<void>(kernel_of(sizes_of(batch * slabs_)));
        static_cast<void>(kernel_of(sizes_of(batch * slabs_ + slabs_ - 1)));
      }
    });
  }

  [[nodiscard]] std::int64_t steps() const noexcept { return slabs_ * batches_; }
  [[nodiscard]] KernelInfo info() { return kernel_of(cut_).info(); }
  [[nodiscard]] std::uint64_t memory_bytes() { return need_of(cut_).total_bytes(); }
  void allocate();
  [[nodiscard]] SlabWork work_of(std::int64_t step);

 private:
  /// Everything that a batch's results go to.
  struct Results {
    UntypedView values, votes, nearest_row, nearest_squared, neighbours;
  };

  [[nodiscard]] static std::int64_t parts(std::int64_t whole, std::int64_t part) noexcept {
    return (whole + part - 1) / part;
  }
  [[nodiscard]] bool is_cut(const RegressionCut& cut) const noexcept { return cut.rows < whole_.training_rows; }
  [[nodiscard]] KernelRegression problem_of(const RegressionCut& cut) const noexcept;
  [[nodiscard]] OperatorKernel<KernelRegression>& kernel_of(const RegressionCut& cut);
  [[nodiscard]] StreamNeed need_of(const RegressionCut& cut);
  void choose_cut();
  void upload(Queue& queue, std::int64_t step) const;
  void run(Queue& queue, std::int64_t step);
  void download(Queue& queue, std::int64_t step) const;
  [[nodiscard]] RegressionCut sizes_of(std::int64_t step) const noexcept;
  [[nodiscard]] std::size_t set_of_rows(std::int64_t step) const noexcept {
    return static_cast<std::size_t>(slabs_ == 1 ? 0 : step % 2);
  }
  [[nodiscard]] std::size_t set_of_queries(std::int64_t step) const noexcept {
    return static_cast<std::size_t>(step / slabs_ % 2);
  }

  const Device& device_;
  const KernelRegression whole_;
  const KernelRegression::HostOperands& host_;
  KernelOptions options_;
  StreamLimit limit_;
  RegressionCut cut_;
  std::int64_t slabs_ = 1;
  std::int64_t batches_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, OperatorKernel<KernelRegression>> kernels_;
  std::array<UntypedView, 2> training_, targets_, queries_, states_;
  std::array<Results, 2> results_;
};

KernelRegression RegressionStream::problem_of(const RegressionCut& cut) const noexcept {
  KernelRegression problem = whole_;
  problem.training_rows = cut.rows;
  problem.queries = cut.queries;
  problem.is_slab = cut_.rows == 0 ? is_cut(cut) : is_cut(cut_);
  problem.set_rows = problem.is_slab ? whole_.training_rows : 0;
  return problem;
}

OperatorKernel<KernelRegression>& RegressionStream::kernel_of(const RegressionCut& cut) {
  const std::pair key(cut.rows, cut.queries);
  auto known = kernels_.find(key);
  if (known == kernels_.end()) known = kernels_.emplace(key, device_.kernel(problem_of(cut), options_)).first;
  return known->second;
}

StreamNeed RegressionStream::need_of(const RegressionCut& cut) {
  const KernelRegression p = problem_of(cut);
  const auto bytes = [](std::int64_t elements, DataType type) {
    return static_cast<std::uint64_t>(elements) * size_bytes(type);
  };
  const std::int64_t sets = p.is_slab ? 2 : 1;
  const std::int64_t batches = cut.queries < whole_.queries ? 2 : 1;
  const KernelInfo info = device_.kernel(p, options_).info();
  StreamNeed need;
  need.add("training", sets, bytes((p.centre_rows() + p.training_rows) * p.columns, p.type));
  need.add("targets", sets, bytes(p.training_rows * p.outputs, p.result_type()));
  need.add("queries", batches, bytes(p.queries * p.columns, p.type));
  need.add("states", p.is_slab ? 2 : 0, bytes(p.queries * p.state_numbers(), DataType::float64));
  need.add("values", batches, bytes(p.queries * p.outputs, p.result_type()));
  need.add("votes", p.classes > 0 ? batches : 0, bytes(p.queries * p.classes, p.result_type()));
  need.add("nearest_row", p.nearest ? batches : 0, bytes(p.queries, DataType::int64));
  need.add("nearest_squared", p.nearest ? batches : 0, bytes(p.queries, p.squared_type()));
  need.add("neighbours", p.neighbours ? batches : 0, bytes(p.queries, p.result_type()));
  need.add_workspace(info);
  return need;
}

void RegressionStream::choose_cut() {
  const std::int64_t rows_unit = std::min(KernelRegression::kSlabRows, whole_.training_rows);
  const std::int64_t queries_unit = std::min(kBatchUnit, std::max<std::int64_t>(whole_.queries, 1));
  const auto fits = [&](const RegressionCut& cut) { return limit_.holds(need_of(cut)); };
  const RegressionCut whole{whole_.training_rows, std::max<std::int64_t>(whole_.queries, 1)};
  RegressionCut cut = whole;
  if (!fits(whole)) {
    const RegressionCut least{rows_unit, queries_unit};
    if (const StreamNeed need = need_of(least); !limit_.holds(need)) {
      throw limit_.refusal(KernelRegression::kName,
                           backend::sentence(least.rows, " training rows and ", least.queries, " queries at a time"),
                           need);
    }
    // Half of the memory for queries at most, so that slabs are not tiny.
    cut.queries = largest_that_fits(queries_unit, whole.queries, kBatchUnit, [&](std::int64_t queries) {
      const StreamNeed need = need_of({rows_unit, queries});
      return limit_.holds(need) && (queries == queries_unit || need.total_bytes() <= limit_.size_bytes() / 2);
    });
    cut.rows = largest_that_fits(rows_unit, whole.rows, KernelRegression::kSlabRows, [&](std::int64_t rows) {
      return fits({rows, cut.queries});
    });
  }
  cut_ = cut;
}

void RegressionStream::allocate() {
  const KernelRegression p = problem_of(cut_);
  const auto take = [&](UntypedView& view, DataType type, std::int64_t count, const char* label) {
    view = device_.allocate_untyped(type, static_cast<std::size_t>(count), {.label = std::string(label)});
  };
  for (std::size_t set = 0; set < (p.is_slab ? 2U : 1U); ++set) {
    take(training_[set], p.type, (p.centre_rows() + p.training_rows) * p.columns, "slab of training rows");
    take(targets_[set], p.result_type(), p.training_rows * p.outputs, "slab of targets");
    if (p.is_slab) {
      take(states_[0], DataType::float64, p.queries * p.state_numbers(), "state of a slab");
      std::swap(states_[0], states_[1]);
    }
  }
  for (std::size_t set = 0; set < (batches_ > 1 ? 2U : 1U); ++set) {
    Results& results = results_[set];
    take(queries_[set], p.type, p.queries * p.columns, "batch of queries");
    take(results.values, p.result_type(), p.queries * p.outputs, "values of a batch");
    if (p.classes > 0) take(results.votes, p.result_type(), p.queries * p.classes, "votes of a batch");
    if (p.nearest) take(results.nearest_row, DataType::int64, p.queries, "nearest rows of a batch");
    if (p.nearest) take(results.nearest_squared, p.squared_type(), p.queries, "nearest distances of a batch");
    if (p.neighbours) take(results.neighbours, p.result_type(), p.queries, "neighbours of a batch");
  }
}

RegressionCut RegressionStream::sizes_of(std::int64_t step) const noexcept {
  return {std::min(cut_.rows, whole_.training_rows - step % slabs_ * cut_.rows),
          std::min(cut_.queries, whole_.queries - step / slabs_ * cut_.queries)};
}

SlabWork RegressionStream::work_of(std::int64_t step) {
  const bool uploads = slabs_ > 1 || step == 0 || step % slabs_ == 0;
  const bool downloads = step % slabs_ == slabs_ - 1;
  SlabWork work;
  if (uploads) work.upload = [this, step](Queue& queue) { upload(queue, step); };
  work.run = [this, step](Queue& queue) { run(queue, step); };
  if (downloads) work.download = [this, step](Queue& queue) { download(queue, step); };
  return work;
}

void RegressionStream::upload(Queue& queue, std::int64_t step) const {
  const RegressionCut sizes = sizes_of(step);
  const std::int64_t columns = whole_.columns;
  const std::size_t set = set_of_rows(step);
  if (step % slabs_ == 0) {
    upload_part(queue, queries_[set_of_queries(step)], 0, host_.queries.memory(),
                step / slabs_ * cut_.queries * columns, sizes.queries * columns);
  }
  if (slabs_ == 1 && step > 0) return;
  const std::int64_t centre = problem_of(cut_).centre_rows();
  // Every slab has them before its own rows; they stay where they are.
  if (step < 2) upload_part(queue, training_[set], 0, host_.training.memory(), 0, centre * columns);
  const std::int64_t first = step % slabs_ * cut_.rows;
  upload_part(queue, training_[set], centre * columns, host_.training.memory(), first * columns, sizes.rows * columns);
  upload_part(queue, targets_[set], 0, host_.targets.memory(), first * whole_.outputs, sizes.rows * whole_.outputs);
}

void RegressionStream::run(Queue& queue, std::int64_t step) {
  const std::size_t set = set_of_rows(step);
  const Results& results = results_[set_of_queries(step)];
  const auto slab = static_cast<std::size_t>(step % slabs_);
  KernelRegression::Operands operands{.queries = queries_[set_of_queries(step)],
                                      .training = training_[set],
                                      .targets = targets_[set],
                                      .values = results.values,
                                      .votes = results.votes,
                                      .nearest_row = results.nearest_row,
                                      .nearest_squared = results.nearest_squared,
                                      .neighbours = results.neighbours};
  if (slabs_ > 1) {
    operands.before = states_[slab % 2];
    operands.after = states_[(slab + 1) % 2];
    if (slab == 0) queue.fill(states_[0], 0.0);
  }
  queue.run(kernel_of(sizes_of(step)), operands);
}

void RegressionStream::download(Queue& queue, std::int64_t step) const {
  const Results& results = results_[set_of_queries(step)];
  const std::int64_t first = step / slabs_ * cut_.queries;
  const std::int64_t count = sizes_of(step).queries;
  const auto take = [&](const UntypedView& view, const HostOperand& host, std::int64_t each) {
    if (view) download_part(queue, view, host.memory(), first * each, count * each);
  };
  take(results.values, host_.values, whole_.outputs);
  take(results.votes, host_.votes, whole_.classes);
  take(results.nearest_row, host_.nearest_row, 1);
  take(results.nearest_squared, host_.nearest_squared, 1);
  take(results.neighbours, host_.neighbours, 1);
}

}  // namespace

StreamReport stream_in_slabs(const Device& device, const KernelRegression& problem,
                             const KernelRegression::HostOperands& operands, const StreamOptions& options) {
  if (problem.is_slab) {
    throw Error(ErrorCode::invalid_argument,
                "the problem to stream is a slab of kernel_regression already: its is_slab is true");
  }
  RegressionStream stream(device, problem, operands, options);
  StreamReport report{.kernel = stream.info(), .memory_bytes = 0, .slabs = {}};
  if (stream.steps() == 0) return report;
  report.memory_bytes = stream.memory_bytes();
  stream.allocate();
  SlabPipeline pipeline(device, options.progress);
  report.slabs = pipeline.run(stream.steps(), [&](std::int64_t step) { return stream.work_of(step); });
  return report;
}

}  // namespace tessera::detail
