// Labels whole, images piece by piece.
#include "tools/classify/labelled_images.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <tessera/error.h>

namespace tessera::tool {

namespace {

constexpr double kMostLabel = 9007199254740992.0;  // 2^53
constexpr std::int64_t kLabelsAtOnce = 65536;

[[noreturn]] void refuse_file(const TableFile& file, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", file.name(), why));
}

std::vector<std::int64_t> read_some_labels(TableFile& file, std::int64_t most) {
  if (file.columns() > 1) {
    refuse_file(file, fmt::format("holds rows of {} numbers, but labels are one a row: IMAGES come first, then LABELS",
                                  file.columns()));
  }
  std::vector<std::int64_t> labels;
  while (static_cast<std::int64_t>(labels.size()) < most) {
    Numbers numbers = std::vector<double>();
    const std::int64_t left = most - static_cast<std::int64_t>(labels.size());
    if (file.read_rows(std::min(left, kLabelsAtOnce), numbers) == 0) break;
    for (const double number : std::get<std::vector<double>>(numbers)) {
      if (number != std::floor(number) || std::abs(number) > kMostLabel) {
        refuse_file(file, fmt::format("holds {} as label {} (counted from 0), but labels are whole numbers", number,
                                      labels.size()));
      }
      labels.push_back(static_cast<std::int64_t>(number));
    }
  }
  return labels;
}

}  // namespace

std::vector<std::int64_t> read_labels(TableFile& file) {
  return read_some_labels(file, std::numeric_limits<std::int64_t>::max());
}

LabelledImages::LabelledImages(const std::string& images, const std::string& labels, const std::string& set,
                               std::int64_t most)
    : images_(open_table(images, fmt::format("the file of {} images", set))),
      label_file_(open_table(labels, fmt::format("the file of {} labels", set))) {
  // Before anything else is read: two heads that differ.
  const std::optional<std::int64_t> image_rows = images_->rows(), label_rows = label_file_->rows();
  if (image_rows && label_rows && *image_rows != *label_rows && label_file_->columns() == 1) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} holds {} rows, but {} holds {} labels", images_->name(),
                                                         *image_rows, label_file_->name(), *label_rows));
  }
  labels_ = most == 0 ? read_labels(*label_file_) : read_some_labels(*label_file_, most);
  takes_all_ = most == 0 || count() < most;
  if (labels_.empty()) refuse_file(*label_file_, "holds no labels");
  if (images_->columns() == 0) refuse_file(*images_, "holds no images");
  if (takes_all_ && image_rows && *image_rows != count()) refuse_counts(std::to_string(*image_rows));
}

void LabelledImages::refuse_counts(const std::string& images) const {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} holds {} rows, but {} holds {} labels", images_->name(),
                                                       images, label_file_->name(), labels_.size()));
}

std::int64_t LabelledImages::read(std::int64_t most, Numbers& numbers) {
  const std::int64_t wanted = std::min(most, count() - read_);
  if (wanted == 0) return 0;
  const std::int64_t got = images_->read_rows(wanted, numbers);
  read_ += got;
  if (got < wanted) refuse_counts(std::to_string(read_));
  if (read_ == count() && takes_all_) {
    Numbers more = std::vector<double>();
    if (images_->read_rows(1, more) != 0) refuse_counts(fmt::format("more than {}", read_));
  }
  return got;
}

}  // namespace tessera::tool
