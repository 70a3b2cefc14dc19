// Times of variants over the sizes of a series.
#include "tools/study/series_table.h"

#include <iterator>

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

std::string series_text(const BenchRecords& records, CaseLabel label, std::string_view things, CountOf count) {
  Table table({{"device"}, {"variant"}, {"case"}, {"time", Align::right}, {fmt::format("{}/s", things), Align::right}});
  for (const BenchRecord& record : records) {
    if (!record.measurement) continue;
    const double seconds = record.measurement->device_s.median;
    table.add_row({record.job.device->name, record.job.variant, label(*record.job.problem), format_seconds(seconds),
                   format_number(count(*record.job.problem) / seconds)});
  }
  return table.empty() ? "" : table.render();
}

void append(BenchRecords& all, BenchRecords more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace tessera::tool
