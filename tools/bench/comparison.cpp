// Two runs beside each other.
#include "tools/bench/comparison.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

/// Others that take more than this of the processors are worth a remark.
constexpr double kDisturbed = 0.1;

std::string other_devices(const OldResults& old, const std::vector<BenchRecord>& records) {
  std::string text;
  std::set<std::string> told;
  for (const BenchRecord& record : records) {
    const OpenDevice& device = *record.job.device;
    const std::string then = old.device(device.info.id);
    const std::string now = device_words(device.info);
    if (then.empty() || then == now || !told.insert(device.info.id).second) continue;
    text += fmt::format("{} is {}, but was {} in {}\n", device.info.id, now, then, old.name());
  }
  return text;
}

}  // namespace

std::vector<Change> changes_from(const OldResults& old, const std::vector<BenchRecord>& records) {
  std::vector<Change> changes;
  for (const BenchRecord& record : records) {
    if (!record.measurement) continue;
    const OldTime* const then = old.find(record);
    if (then == nullptr) continue;
    const Statistics& now = record.measurement->device_s;
    changes.push_back({{*then, {now.median, now.spread, others_share_of(record).value_or(0)}}, &record});
  }
  return changes;
}

std::string changes_text(const OldResults& old, const std::vector<BenchRecord>& records) {
  const std::vector<Change> changes = changes_from(old, records);
  Table table({{"operator"},
               {"device"},
               {"variant"},
               {"case"},
               {"then", Align::right},
               {"now", Align::right},
               {"now / then", Align::right},
               {"tolerance", Align::right},
               {""}});
  std::size_t unchanged = 0;
  std::size_t disturbed = 0;
  double most = 0;
  for (const Change& change : changes) {
    if (change.others_share > kDisturbed) {
      ++disturbed;
      most = std::max(most, change.others_share);
    }
    if (!change.is_slower() && !change.is_faster()) {
      ++unchanged;
      continue;
    }
    const Job& job = change.record->job;
    table.add_row({job.set->operator_name, job.device->name, job.variant, std::string(job.problem->name()),
                   format_seconds(change.old_s), format_seconds(change.now_s), fmt::format("{:.3f}", change.ratio()),
                   fmt::format("{:.1f} %", 100 * change.tolerance), change.is_slower() ? "SLOWER" : "faster"});
  }
  const auto measured = static_cast<std::size_t>(
      std::count_if(records.begin(), records.end(), [](const auto& record) { return record.measurement.has_value(); }));
  std::string text = fmt::format("compared with {}\n\n", old.name()) + other_devices(old, records);
  if (!table.empty()) text += table.render() + "\n";
  text += fmt::format("{} of {} records are as fast as then", unchanged, changes.size());
  if (changes.size() < measured) text += fmt::format("; {} measured now are not in it", measured - changes.size());
  text += "\n";
  if (disturbed > 0)
    text += fmt::format(
        "{} of them ran, now or then, beside other programs, which took up to {:.0f} % of the processors: what they "
        "may\n"
        "have cost is tolerated, so repeat it on a quiet machine\n",
        disturbed, 100 * most);
  return text;
}

}  // namespace tessera::tool
