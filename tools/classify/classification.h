// What `tessera classify` does, apart from its command line: two labelled sets of images in, judgements out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/tessera.h>

#include "tools/classify/judgement.h"
#include "tools/classify/regression_problem.h"

namespace tessera::tool {

struct Classification {
  std::string training_images;
  std::string training_labels;
  std::string test_images;
  std::string test_labels;
  std::int64_t most_training = 0;  ///< take only the first so many; 0: all
  std::int64_t most_test = 0;
  double order = 10;
  Distance distance = Distance::squared;
  std::optional<double> scale = {};   ///< nothing: 1/255 for bytes, else 1
  std::optional<DataType> type = {};  ///< nothing: as the training images are stored, float64 where it is none of three
  bool by_vote = false;               ///< the answer is the vote's, not the rounded value
  std::int64_t batch = 0;             ///< test images on the device at once; 0: as many as suit the kind of device
  std::uint64_t memory_bytes = 0;     ///< of the device, for a training set in slabs; 0: in one piece if it fits
  std::int64_t doubtful = 10;         ///< how many of the most doubtful images are kept
  std::string device;                 ///< as open() takes it
  KernelOptions kernel = {};
};

struct DoubtfulImage {
  std::int64_t index = 0;
  std::int64_t label = 0;
  std::optional<std::int64_t> answer = {};
  double margin = 0;
  std::optional<std::int64_t> nearest_label = {};
  Judgement judgement = {};
};

struct ClassificationReport {
  std::int64_t training_rows = 0;
  std::int64_t test_rows = 0;
  std::int64_t columns = 0;
  DataType type = DataType::uint8;
  double scale = 1;
  std::int64_t batch = 0;
  DeviceInfo device = {};
  KernelInfo kernel = {};
  std::int64_t slabs = 0;          ///< that the training set was streamed in; 0: it was on the device
  std::uint64_t memory_bytes = 0;  ///< that they took there
  std::int64_t right_by_value = 0;
  std::int64_t right_by_vote = 0;
  std::int64_t right = 0;                                                     ///< of the two what decides
  std::vector<std::optional<std::int64_t>> answers = {};                      ///< of the test images, in their order
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts = {};  ///< of each (label, answer)
  std::vector<std::int64_t> unanswered = {};                                  ///< indices of images without an answer
  std::vector<DoubtfulImage> doubtful = {};  ///< the least margin first, then the lower index
  double open_s = 0;
  double read_training_s = 0;
  double read_test_s = 0;
  DeviceTimes times = {};
  double total_s = 0;

  /// Share of the test images.
  [[nodiscard]] double share(std::int64_t count) const {
    return static_cast<double>(count) / static_cast<double>(test_rows);
  }
};

/// Errors: invalid_argument for a file that is not as it should be or sets that do not go together; UsageError for what
/// the command line has wrong; Interrupted; and the library's.
[[nodiscard]] ClassificationReport classify(const Classification& request);

}  // namespace tessera::tool
