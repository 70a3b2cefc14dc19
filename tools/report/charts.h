// The two kinds of charts of a report, as SVG: bars beside each other, and points or lines over two axes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tessera::tool {

struct Bar {
  std::string label;
  double value = 0;
  std::string words;  ///< written behind the bar
  std::string tip;
  bool is_ours = true;
  bool is_default = false;
};
struct BarGroup {
  std::string name;
  std::vector<Bar> bars;
};
/// Bars from 0, group under group. `title` and `description` are for those who do not see it.
[[nodiscard]] std::string bar_chart(const std::string& title, const std::string& description,
                                    const std::vector<BarGroup>& groups);

struct Axis {
  std::string label;
  bool is_log = true;
};
struct Point {
  double x = 0;
  double y = 0;
  std::string tip;
};
struct Series {
  std::string name;
  std::vector<Point> points;
  bool has_line = true;
  bool has_marks = true;
  bool is_dashed = false;
  int look = 0;  ///< its colour and shape; -1: a plain grey line
};
/// Series over two axes, which end where the points do, and their names below. Points that an axis cannot show are left
/// out; "" if none is left.
[[nodiscard]] std::string xy_chart(const std::string& title, const std::string& description, const Axis& x,
                                   const Axis& y, std::vector<Series> series);

}  // namespace tessera::tool
