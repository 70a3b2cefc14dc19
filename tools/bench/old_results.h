// A result file of `tessera bench`, read again: what comparing needs of its records.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "tools/bench/bench_record.h"
#include "tools/output/result_file.h"

namespace tessera::tool {

/// How long a record's run took: the median of the device time, its spread, and on a processor what others took of it.
struct OldTime {
  double median_s = 0;
  double spread = 0;
  double others_share = 0;
};

class OldResults {
 public:
  /// Reads the file. Error invalid_argument, one sentence, for what does not open, is longer than 256 MiB, is no JSON
  /// or no result of `tessera bench`, or has a record that is none.
  explicit OldResults(const std::string& path);
  /// The same for what a file holds; `name` is for messages.
  OldResults(const Json& result, std::string name);

  /// The verified record of the same operator, device, variant, case and tuning; null if there is none.
  [[nodiscard]] const OldTime* find(const BenchRecord& record) const;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// "cuda:0 NVIDIA H200 (driver 580.159)", what a device name stood for; "" if the file does not say.
  [[nodiscard]] std::string device(const std::string& id) const;
  [[nodiscard]] std::size_t size() const noexcept { return times_.size(); }

 private:
  void read(const Json& result);

  std::string name_;
  std::map<std::string, OldTime> times_;
  std::map<std::string, std::string> devices_;
};

/// As OldResults tells a device.
[[nodiscard]] std::string device_words(const DeviceInfo& info);

}  // namespace tessera::tool
