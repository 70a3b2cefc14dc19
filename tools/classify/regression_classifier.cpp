// Buffers, the kernel, and answers from what it computes.
#include "tools/classify/regression_classifier.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tools/process/add_time.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {

namespace {

/// The problem's sizes and type, from the training set. Targets are labels less the smallest one.
KernelRegression sized(KernelRegression p, const Numbers& training, const std::vector<std::int64_t>& labels,
                       std::int64_t batch) {
  const auto [smallest, largest] = std::minmax_element(labels.begin(), labels.end());
  if (*largest - *smallest >= RegressionClassifier::kMostClasses) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the training labels reach from {} to {}, but may be at most {} apart", *smallest, *largest,
                            RegressionClassifier::kMostClasses - 1));
  }
  p.training_rows = static_cast<std::int64_t>(labels.size());
  p.columns = static_cast<std::int64_t>(size_of(training) / labels.size());
  p.queries = batch;
  p.outputs = 1;
  p.classes = *largest - *smallest + 1;
  p.nearest = true;
  p.neighbours = true;
  p.type = std::visit([](const auto& rows) { return data_type_of<std::decay_t<decltype(rows[0])>>; }, training);
  return p;
}

/// What is wrong with the problem or the options was typed on the command line.
OperatorKernel<KernelRegression> make_kernel(const Device& device, const KernelRegression& problem,
                                             const KernelOptions& options, double& seconds) {
  const AddTime timer(seconds);
  try {
    return device.kernel(problem, options);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
    throw;
  }
}

template <class T>
std::vector<T> targets_of(const std::vector<std::int64_t>& labels, std::int64_t smallest) {
  std::vector<T> targets;
  targets.reserve(labels.size());
  for (const std::int64_t label : labels) targets.push_back(static_cast<T>(label - smallest));
  return targets;
}

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

RegressionClassifier::RegressionClassifier(const Device& device, KernelRegression problem, const KernelOptions& options,
                                           Numbers training, const std::vector<std::int64_t>& labels,
                                           std::int64_t batch, DeviceTimes& times)
    : times_(times),
      smallest_label_(*std::min_element(labels.begin(), labels.end())),
      problem_(sized(problem, training, labels, batch)),
      kernel_(make_kernel(device, problem_, options, times.compile_s)),
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

Judgement RegressionClassifier::judged(double value, const double* votes) const {
  Judgement judgement;
  judgement.value = value + static_cast<double>(smallest_label_);
  if (std::isnan(value)) return judgement;
  const std::int64_t classes = problem_.classes;
  const std::int64_t rounded = std::clamp<std::int64_t>(std::llround(value), 0, classes - 1);
  const std::int64_t voted = std::max_element(votes, votes + classes) - votes;
  double sum = 0, second = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    sum += votes[c];
    if (c != voted) second = std::max(second, votes[c]);
  }
  judgement.rounded = rounded + smallest_label_;
  judgement.voted = voted + smallest_label_;
  judgement.voted_margin = (votes[voted] - second) / sum;
  judgement.rounded_margin = rounded == voted ? judgement.voted_margin : (votes[rounded] - votes[voted]) / sum;
  return judgement;
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
  const std::vector<double> values = download(values_), votes = download(votes_), squared = download(nearest_squared_),
                            neighbours = download(neighbours_);
  const std::vector<std::int64_t> nearest = queue_.download<std::int64_t>(nearest_row_).get();
  std::vector<Judgement> judgements;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    Judgement judgement = judged(values[i], votes.data() + i * static_cast<std::size_t>(p.classes));
    judgement.neighbours = neighbours[i];
    judgement.nearest_row = nearest[i];
    judgement.nearest_distance = p.scale * std::sqrt(squared[i]);
    judgements.push_back(judgement);
  }
  return judgements;
}

}  // namespace tessera::tool
