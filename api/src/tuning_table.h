// The tuned values of a file, once read: found by their key, never changed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning_record.h"

namespace tessera::detail {

/// All that one search left.
struct TunedClass {
  std::optional<TuningLine> choice;  ///< faster or not_faster; the last one that the file holds
  std::vector<TuningLine> rejected;  ///< wrong or failed
};

class TuningTable {
 public:
  TuningTable() = default;
  /// Skips lines that are damaged or of another format, and remembers why.
  explicit TuningTable(std::string_view file);

  [[nodiscard]] const TunedClass* find(const TuningKey& key) const;
  [[nodiscard]] bool empty() const noexcept { return classes_.empty(); }
  /// Lines that were understood.
  [[nodiscard]] std::size_t entries() const noexcept { return entries_; }
  /// "line 3 is damaged: ...", so many at most, and then how many more there are.
  [[nodiscard]] std::vector<std::string> complaints() const;

 private:
  void complain(std::size_t line, std::string_view why);

  std::map<TuningKey, TunedClass> classes_;
  std::size_t entries_ = 0;
  std::size_t complaints_left_out_ = 0;
  std::vector<std::string> complaints_;
};

/// The file's text with `lines` in place of all that it holds of `key`. Damaged lines are left out, lines of another
/// format stay. Where there would be more than `most` lines or `most_bytes`, the first ones go.
[[nodiscard]] std::string with_class_replaced(std::string_view file, const TuningKey& key,
                                              const std::vector<TuningLine>& lines, std::size_t most,
                                              std::size_t most_bytes);

}  // namespace tessera::detail
