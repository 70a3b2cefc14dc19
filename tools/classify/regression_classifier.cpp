// Buffers, and runs of the kernel.
#include "tools/classify/regression_classifier.h"

#include <algorithm>
#include <utility>

#include "tools/process/add_time.h"

namespace tessera::tool {

namespace {

void upload(Queue& queue, const UntypedView& view, Numbers numbers) {
  std::visit([&](auto& rows) { queue.upload(view, std::move(rows)); }, numbers);
}

}  // namespace

template <class Body>
void RegressionClassifier::timed(double& seconds, const Body& body) {
  const AddTime timer(seconds);
  body();
  queue_.finish();
}

RegressionClassifier::RegressionClassifier(const Device& device, OperatorKernel<KernelRegression> kernel,
                                           Numbers training, const std::vector<std::int64_t>& labels,
                                           DeviceTimes& times)
    : times_(times),
      smallest_label_(*std::min_element(labels.begin(), labels.end())),
      problem_(kernel.problem()),
      kernel_(std::move(kernel)),
      queue_(device) {
  const KernelRegression& p = problem_;
  const auto allocate = [&](DataType type, std::int64_t count, const char* label) {
    return device.allocate_untyped(type, static_cast<std::size_t>(count), {.label = label});
  };
  targets_ = allocate(p.result_type(), p.training_rows, "labels");
  queries_ = allocate(p.type, p.queries * p.columns, "images");
  values_ = allocate(p.result_type(), p.queries, "values");
  votes_ = allocate(p.result_type(), p.queries * p.classes, "votes");
  nearest_row_ = allocate(DataType::int64, p.queries, "nearest rows");
  nearest_squared_ = allocate(p.squared_type(), p.queries, "nearest distances");
  neighbours_ = allocate(p.result_type(), p.queries, "neighbours");
  const UntypedView raw = allocate(p.type, p.training_rows * p.columns, "training images");
  timed(times_.upload_training_s, [&] {
    upload(queue_, raw, std::move(training));
    if (p.result_type() == DataType::float64) {
      queue_.upload(targets_, targets_of<double>(labels, smallest_label_));
    } else {
      queue_.upload(targets_, targets_of<float>(labels, smallest_label_));
    }
  });
  timed(times_.prepare_s, [&] { training_ = queue_.prepare_weights(kernel_, raw); });
}

std::vector<double> RegressionClassifier::download(const UntypedView& view) {
  switch (view.type()) {
    case DataType::float64: return queue_.download<double>(view).get();
    case DataType::float32: {
      const std::vector<float> numbers = queue_.download<float>(view).get();
      return {numbers.begin(), numbers.end()};
    }
    default: {
      std::vector<double> numbers;
      for (const std::int64_t number : queue_.download<std::int64_t>(view).get()) {
        numbers.push_back(static_cast<double>(number));
      }
      return numbers;
    }
  }
}

std::vector<Judgement> RegressionClassifier::judge(Numbers images, std::int64_t count) {
  const KernelRegression& p = problem_;
  // A kernel takes whole batches: behind the last image the batch holds zeros.
  std::visit([&](auto& rows) { rows.resize(static_cast<std::size_t>(p.queries * p.columns)); }, images);
  timed(times_.upload_images_s, [&] { upload(queue_, queries_, std::move(images)); });
  timed(times_.compute_s, [&] {
    queue_.run(kernel_, {.queries = queries_,
                         .training = training_,
                         .targets = targets_,
                         .values = values_,
                         .votes = votes_,
                         .nearest_row = nearest_row_,
                         .nearest_squared = nearest_squared_,
                         .neighbours = neighbours_});
  });
  const AddTime timer(times_.download_s);
  const RegressionResults results{.values = download(values_),
                                  .votes = download(votes_),
                                  .nearest_squared = download(nearest_squared_),
                                  .neighbours = download(neighbours_),
                                  .nearest_row = queue_.download<std::int64_t>(nearest_row_).get()};
  return judgements_of(p, results, smallest_label_, count);
}

}  // namespace tessera::tool
