// One stream for each batch of test images.
#include "tools/classify/stream_classifier.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "tools/process/add_time.h"

namespace tessera::tool {

bool passes_memory_of(const Device& device, const KernelRegression& problem, const KernelInfo& kernel) {
  const DeviceInfo info = device.info();
  const std::uint64_t free_bytes = info.memory_free_bytes != 0 ? info.memory_free_bytes : info.memory_total_bytes;
  const std::uint64_t raw_bytes =
      static_cast<std::uint64_t>(problem.training_rows * problem.columns) * size_bytes(problem.type);
  const std::uint64_t needed = raw_bytes + kernel.prepared_bytes + kernel.workspace_bytes;
  return (free_bytes != 0 && needed > free_bytes / 10 * 9) ||
         (info.max_allocation_bytes != 0 &&
          std::max<std::uint64_t>(raw_bytes, kernel.prepared_bytes) > info.max_allocation_bytes);
}

StreamClassifier::StreamClassifier(const Device& device, const KernelRegression& problem, const KernelInfo& kernel,
                                   Numbers training, const std::vector<std::int64_t>& labels,
                                   std::uint64_t memory_bytes, DeviceTimes& times)
    : device_(device),
      problem_(problem),
      options_{.variant = kernel.variant, .tuning = kernel.tuning},
      training_(std::move(training)),
      labels_(labels),
      smallest_label_(*std::min_element(labels.begin(), labels.end())),
      memory_bytes_(memory_bytes),
      times_(times) {}

void StreamClassifier::note(const StreamReport& report) {
  taken_bytes_ = std::max(taken_bytes_, report.memory_bytes);
  slabs_ += static_cast<std::int64_t>(report.slabs.size());
  for (const SlabTimes& slab : report.slabs) {
    times_.upload_training_s += slab.upload_end_s - slab.upload_begin_s;
    times_.compute_s += slab.run_end_s - slab.run_begin_s;
    times_.download_s += slab.download_end_s - slab.run_end_s;
  }
}

template <class T>
std::vector<Judgement> StreamClassifier::judge_typed(const std::vector<T>& images, std::int64_t count,
                                                     const std::function<void(double)>& tell) {
  using Result = std::conditional_t<std::is_same_v<T, double>, double, float>;
  using Squared = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int64_t, T>;
  problem_.queries = count;
  const auto size = static_cast<std::size_t>(count);
  const std::vector<Result> targets = targets_of<Result>(labels_, smallest_label_);
  std::vector<Result> values(size), votes(size * static_cast<std::size_t>(problem_.classes)), neighbours(size);
  std::vector<std::int64_t> nearest_row(size);
  std::vector<Squared> nearest_squared(size);
  const auto progress = [&](const StreamProgress& p) {
    tell(static_cast<double>(p.done) / static_cast<double>(p.slabs));
  };
  {
    const AddTime timer(times_.stream_s);
    note(stream(device_, problem_,
                {.queries = images,
                 .training = std::get<std::vector<T>>(training_),
                 .targets = targets,
                 .values = values,
                 .votes = votes,
                 .nearest_row = nearest_row,
                 .nearest_squared = nearest_squared,
                 .neighbours = neighbours},
                {.kernel = options_, .memory_bytes = memory_bytes_, .progress = progress}));
  }
  const auto doubles = [](const auto& numbers) { return std::vector<double>(numbers.begin(), numbers.end()); };
  return judgements_of(problem_,
                       {.values = doubles(values),
                        .votes = doubles(votes),
                        .nearest_squared = doubles(nearest_squared),
                        .neighbours = doubles(neighbours),
                        .nearest_row = std::move(nearest_row)},
                       smallest_label_, count);
}

std::vector<Judgement> StreamClassifier::judge(const Numbers& images, std::int64_t count,
                                               const std::function<void(double)>& tell) {
  return std::visit([&](const auto& rows) { return judge_typed(rows, count, tell); }, images);
}

}  // namespace tessera::tool
