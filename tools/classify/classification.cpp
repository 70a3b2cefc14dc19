// The training set whole or in slabs, the test images batch by batch.
#include "tools/classify/classification.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "tools/classify/labelled_images.h"
#include "tools/classify/regression_classifier.h"
#include "tools/classify/stream_classifier.h"
#include "tools/output/machine.h"
#include "tools/output/progress.h"
#include "tools/output/table.h"
#include "tools/process/add_time.h"
#include "tools/process/interrupt.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {

namespace {

// A processor gains nothing from more (measured with exact_bytes on two cores of an AMD EPYC: 746 images/s with 64, 768
// with 512), and between two batches the bar moves. A GPU is filled by more.
constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kGpuBatch = 1024;
constexpr std::int64_t kBytesAtOnce = std::int64_t{1} << 22;  // of the training set, between two looks at the bar

DataType type_of(const Classification& request, const TableFile& training) {
  if (request.type) return *request.type;
  return training.type() == DataType::uint8 || training.type() == DataType::float32 ? training.type()
                                                                                    : DataType::float64;
}

void check_columns(const LabelledImages& training, const LabelledImages& test) {
  if (training.file().columns() == test.file().columns()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} holds {} numbers in a row, but {} holds {}", training.file().name(),
                          training.file().columns(), test.file().name(), test.file().columns()));
}

/// Before hours of reading end in the system's ending the program.
void refuse_beyond_memory(const LabelledImages& training, std::int64_t row_bytes) {
  const std::uint64_t memory_bytes = this_machine().memory_bytes;  // 0 where the system does not tell
  const double needed = static_cast<double>(training.count()) * static_cast<double>(row_bytes);
  if (memory_bytes == 0 || needed <= static_cast<double>(memory_bytes)) return;
  throw Error(ErrorCode::out_of_memory,
              fmt::format("{} holds {} rows of {} bytes, but this machine has {} of memory; --rows takes fewer",
                          training.file().name(), training.count(), row_bytes, format_bytes(memory_bytes)));
}

Numbers read_training(LabelledImages& training, DataType type, double& seconds) {
  const AddTime timer(seconds);
  const std::int64_t row_bytes = training.file().columns() * static_cast<std::int64_t>(size_bytes(type));
  refuse_beyond_memory(training, row_bytes);
  Numbers rows = no_numbers(type);
  Progress progress(static_cast<std::size_t>(training.count()));
  progress.steps_are_alike();
  const std::int64_t at_once = std::max<std::int64_t>(1, kBytesAtOnce / row_bytes);
  std::int64_t done = 0;
  while (const std::int64_t got = training.read(at_once, rows)) {
    stop_if_interrupted();
    progress.show(static_cast<std::size_t>(done += got), "reading training images");
  }
  return rows;
}

Device open_named(const std::string& name, double& seconds) {
  const AddTime timer(seconds);
  try {
    return open(name);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
    throw;
  }
}

/// What becomes of each judgement.
class Tally {
 public:
  Tally(const Classification& request, const std::vector<std::int64_t>& training_labels, ClassificationReport& report)
      : request_(request), training_labels_(training_labels), report_(report) {}

  void add(const Judgement& judgement, std::int64_t label) {
    const std::optional<std::int64_t> answer = request_.by_vote ? judgement.voted : judgement.rounded;
    const auto index = static_cast<std::int64_t>(report_.answers.size());
    report_.answers.push_back(answer);
    report_.right_by_value += judgement.rounded == label ? 1 : 0;
    report_.right_by_vote += judgement.voted == label ? 1 : 0;
    report_.right += answer == label ? 1 : 0;
    if (answer) {
      ++report_.counts[{label, *answer}];
    } else {
      report_.unanswered.push_back(index);
    }
    DoubtfulImage image{.index = index, .label = label, .answer = answer, .judgement = judgement};
    image.margin = request_.by_vote ? judgement.voted_margin : judgement.rounded_margin;
    if (judgement.nearest_row >= 0) {
      image.nearest_label = training_labels_[static_cast<std::size_t>(judgement.nearest_row)];
    }
    keep_if_doubtful(image);
  }

 private:
  void keep_if_doubtful(const DoubtfulImage& image) {
    std::vector<DoubtfulImage>& kept = report_.doubtful;
    const auto place = std::upper_bound(kept.begin(), kept.end(), image,
                                        [](const auto& one, const auto& other) { return one.margin < other.margin; });
    kept.insert(place, image);
    if (static_cast<std::int64_t>(kept.size()) > request_.doubtful) kept.pop_back();
  }

  const Classification& request_;
  const std::vector<std::int64_t>& training_labels_;
  ClassificationReport& report_;
};

/// Judges so many images, and may tell meanwhile which share of them is done.
using Judge = std::function<std::vector<Judgement>(Numbers images, std::int64_t count,
                                                   const std::function<void(double share)>& tell)>;

void judge_all(LabelledImages& test, const Judge& judge, Tally& tally, ClassificationReport& report) {
  Progress progress(static_cast<std::size_t>(test.count()));
  progress.steps_are_alike();
  progress.show(0, "classifying");
  std::int64_t done = 0;
  while (done < test.count()) {
    Numbers images = no_numbers(report.type);
    std::int64_t got = 0;
    {
      const AddTime timer(report.read_test_s);
      got = test.read(report.batch, images);
    }
    stop_if_interrupted();
    const auto tell = [&, before = done](double share) {
      stop_if_interrupted();
      progress.show(static_cast<std::size_t>(before) + static_cast<std::size_t>(share * static_cast<double>(got)),
                    "classifying");
    };
    for (const Judgement& judgement : judge(std::move(images), got, tell)) {
      tally.add(judgement, test.labels()[static_cast<std::size_t>(done++)]);
    }
    progress.show(static_cast<std::size_t>(done), "classifying");
  }
}

/// In slabs, each batch of images makes the training set pass once: the fewer batches the better.
void judge_in_slabs(const Device& device, const KernelRegression& problem, const Classification& request,
                    Numbers training, const std::vector<std::int64_t>& labels, LabelledImages& test, Tally& tally,
                    ClassificationReport& report) {
  report.batch = request.batch == 0 ? test.count() : std::min(request.batch, test.count());
  StreamClassifier classifier(device, problem, report.kernel, std::move(training), labels, request.memory_bytes,
                              report.times);
  judge_all(
      test, [&](Numbers images, std::int64_t count, const auto& tell) { return classifier.judge(images, count, tell); },
      tally, report);
  report.slabs = classifier.slabs();
  report.memory_bytes = classifier.memory_bytes();
}

}  // namespace

ClassificationReport classify(const Classification& request) {
  ClassificationReport report;
  {
    const AddTime total(report.total_s);
    LabelledImages training(request.training_images, request.training_labels, "training", request.most_training);
    LabelledImages test(request.test_images, request.test_labels, "test", request.most_test);
    check_columns(training, test);
    const Device device = open_named(request.device, report.open_s);
    report.type = type_of(request, training.file());
    const bool are_bytes = training.file().type() == DataType::uint8 || report.type == DataType::uint8;
    report.scale = request.scale.value_or(are_bytes ? 1.0 / 255 : 1);
    report.training_rows = training.count();
    report.test_rows = test.count();
    report.columns = training.file().columns();
    report.device = device.info();

    const KernelRegression problem{.order = request.order, .scale = report.scale, .distance = request.distance};
    const std::int64_t suits = report.device.kind == DeviceKind::gpu ? kGpuBatch : kBatch;
    report.batch = std::min(request.batch == 0 ? suits : request.batch, test.count());
    Numbers rows = read_training(training, report.type, report.read_training_s);
    const KernelRegression sized = regression_of(problem, rows, training.labels(), report.batch);
    auto kernel = regression_kernel(device, sized, request.kernel, report.times.compile_s);
    report.kernel = kernel.info();
    Tally tally(request, training.labels(), report);
    if (request.memory_bytes != 0 || passes_memory_of(device, sized, report.kernel)) {
      judge_in_slabs(device, sized, request, std::move(rows), training.labels(), test, tally, report);
    } else {
      RegressionClassifier classifier(device, std::move(kernel), std::move(rows), training.labels(), report.times);
      judge_all(
          test,
          [&](Numbers images, std::int64_t count, const auto&) { return classifier.judge(std::move(images), count); },
          tally, report);
    }
  }
  return report;
}

}  // namespace tessera::tool
