// The page of a report: one file of HTML that needs no other, from one or several result files.
#pragma once

#include <string>
#include <vector>

#include "tools/report/report_input.h"

namespace tessera::tool {

[[nodiscard]] std::string report_page(const std::vector<ReportInput>& inputs);

/// A table of HTML. Columns whose header begins with '#' hold numbers, and stand to the right.
class HtmlTable {
 public:
  explicit HtmlTable(std::vector<std::string> headers) : headers_(std::move(headers)) {}
  /// `of_class` is the row's, for its colour.
  void add_row(std::vector<std::string> cells, std::string of_class = "");
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  [[nodiscard]] std::string render() const;
  /// Folded up until it is asked for, but printed. "" if there is no row.
  [[nodiscard]] std::string folded(const std::string& summary) const;

 private:
  std::vector<std::string> headers_;
  std::vector<std::pair<std::vector<std::string>, std::string>> rows_;
};
/// A chart with its heading, and what is to be said of it; "" for no chart.
[[nodiscard]] std::string figure(const std::string& caption, const std::string& svg);

/// The sections, each "" where a file has nothing of it.
[[nodiscard]] std::string devices_section(const ReportInput& input);
[[nodiscard]] std::string operators_section(const ReportInput& input);
[[nodiscard]] std::string random_section(const ReportInput& input);
[[nodiscard]] std::string threads_section(const ReportInput& input);
[[nodiscard]] std::string transfers_section(const ReportInput& input);
/// What several files have in common, the first beside each other one.
[[nodiscard]] std::string comparison_section(const std::vector<ReportInput>& inputs);

}  // namespace tessera::tool
