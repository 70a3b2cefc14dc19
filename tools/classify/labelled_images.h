// Images and their labels as they stand in two files: opened, checked against each other, and read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/classify/table_file.h"

namespace tessera::tool {

/// The whole numbers of a file of labels, a row each. Error invalid_argument for rows of several numbers and for
/// numbers that are not whole, or so large that float64 does not count by ones.
[[nodiscard]] std::vector<std::int64_t> read_labels(TableFile& file);

class LabelledImages {
 public:
  /// Opens both files and reads the labels, at most `most` of them; 0: all. `set` is "training" or "test". Errors as
  /// TableFile's, for sets without images, and for counts that differ, as far as the head tells them.
  LabelledImages(const std::string& images, const std::string& labels, const std::string& set, std::int64_t most);

  [[nodiscard]] const std::vector<std::int64_t>& labels() const noexcept { return labels_; }
  /// Images to be read: as many as labels.
  [[nodiscard]] std::int64_t count() const noexcept { return static_cast<std::int64_t>(labels_.size()); }
  [[nodiscard]] const TableFile& file() const noexcept { return *images_; }
  /// Appends the next images, at most so many, and returns how many; 0 when all were read. Error invalid_argument if
  /// the file holds more or fewer than there are labels.
  std::int64_t read(std::int64_t most, Numbers& numbers);

 private:
  [[noreturn]] void refuse_counts(const std::string& images) const;

  std::unique_ptr<TableFile> images_;
  std::unique_ptr<TableFile> label_file_;
  std::vector<std::int64_t> labels_;
  bool takes_all_ = true;
  std::int64_t read_ = 0;
};

}  // namespace tessera::tool
