// What each device is, the peaks that were measured on it, and every result under the roof that these peaks make.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tools/output/table.h"
#include "tools/report/charts.h"
#include "tools/report/page.h"
#include "tools/report/svg.h"

namespace tessera::tool {

namespace {

std::string or_dash(double number) {
  return std::isnan(number) ? "\u2013" : format_number(number);
}

/// "L1 445, L2 229, memory 48"
std::string reads_of(const ReportDevice& device) {
  std::string text;
  for (const ReportRead& read : device.reads)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", read.level, format_number(read.gbytes_per_s));
  return text.empty() ? "\u2013" : text;
}

/// As fast as multiply-adds and a level of memory allow, over the operations for each byte.
Series roof_of(const std::string& name, double gflops, double gbytes_per_s, double least, double most) {
  const double edge = std::clamp(gflops / gbytes_per_s, least, most);
  Series roof{.name = name, .points = {}, .has_marks = false, .look = -1};
  for (const double intensity : {least, edge, most})
    roof.points.push_back({intensity, std::min(gflops, intensity * gbytes_per_s), ""});
  return roof;
}

std::string roofline(const ReportInput& input, const ReportDevice& device) {
  std::vector<Series> series;
  double least = 1, most = 1;
  for (const ReportRecord& record : input.records) {
    if (record.device != device.id || !record.is_verified() || record.is_peer()) continue;
    if (!record.is_default || !(record.gflops > 0) || !(record.gbytes_per_s > 0)) continue;
    const double intensity = record.gflops / record.gbytes_per_s;
    least = std::min(least, intensity);
    most = std::max(most, intensity);
    const std::string name = fmt::format("{} {}", record.operator_name, record.type);
    auto found = std::find_if(series.begin(), series.end(), [&](const Series& one) { return one.name == name; });
    if (found == series.end()) {
      series.push_back({.name = name, .points = {}, .has_line = false, .look = static_cast<int>(series.size())});
      found = series.end() - 1;
    }
    found->points.push_back(
        {intensity, record.gflops,
         fmt::format("{} {}: {} GFLOP/s", record.variant, record.problem, format_number(record.gflops))});
  }
  if (series.empty()) return "";
  // The roof of memory is the plain line; the others are dashed, each in its colour.
  const auto add_roof = [&](const std::string& name, double gflops, double gbytes_per_s, bool is_plain) {
    if (!(gflops > 0) || !(gbytes_per_s > 0)) return;
    Series roof = roof_of(name, gflops, gbytes_per_s, least, most);
    roof.is_dashed = !is_plain;
    if (!is_plain) roof.look = static_cast<int>(series.size());
    series.push_back(std::move(roof));
  };
  const double copy = device.copy_gbytes_per_s;
  add_roof("float32 multiply-add and copy", device.float32_gflops, copy, true);
  add_roof("float64 multiply-add and copy", device.float64_gflops, copy, false);
  add_roof("int32 multiply-add and copy", device.int32_gflops, copy, false);
  add_roof("int8 dot product and copy", device.dot_int8_gflops, copy, false);
  for (const ReportRead& read : device.reads) {
    if (read.level != "memory")
      add_roof(fmt::format("float32 multiply-add and {} reads", read.level), device.float32_gflops, read.gbytes_per_s,
               false);
  }
  return figure(
      fmt::format("Roofline of {}: the default of every problem. A point above a line of its type did fewer operations "
                  "than were counted, or took tensor instructions or those for shorter numbers; left of the edge it "
                  "read from a nearer cache.",
                  device.id),
      xy_chart("Roofline of " + device.id, "GFLOP/s over operations for each byte, on logarithmic axes",
               {.label = "operations for each byte"}, {.label = "GFLOP/s"}, std::move(series)));
}

}  // namespace

std::string devices_section(const ReportInput& input) {
  HtmlTable table({"device", "name", "what it is", "# float32 GFLOP/s", "# float64 GFLOP/s", "# int32 GFLOP/s",
                   "# int8 dot GFLOP/s", "# copy GB/s", "reads, GB/s"});
  for (const ReportDevice& device : input.devices) {
    table.add_row({device.id, device.name, device.facts, or_dash(device.float32_gflops), or_dash(device.float64_gflops),
                   or_dash(device.int32_gflops), or_dash(device.dot_int8_gflops), or_dash(device.copy_gbytes_per_s),
                   reads_of(device)});
  }
  if (table.empty()) return "";
  std::string html = "<h3>Devices, and the peaks measured on them</h3>\n" + table.render();
  for (const ReportDevice& device : input.devices) html += roofline(input, device);
  return html;
}

}  // namespace tessera::tool
