// Places are computed from the widths of texts, so that nothing overlaps whatever names a file has.
#include "tools/report/charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tools/report/scale.h"
#include "tools/report/svg.h"

namespace tessera::tool {

namespace {

constexpr double kWidth = 860;
constexpr double kMargin = 8;

double width_of(const std::string& text) {
  return static_cast<double>(letters_of(text)) * Svg::kLetter;
}

/// The names of series, in as many columns as fit. Returns where they end.
double draw_legend(Svg& svg, const std::vector<Series>& series, double y) {
  constexpr double kSwatch = 34;
  constexpr std::size_t kMostLetters = 50;
  double column = 0;
  for (const Series& one : series) column = std::max(column, width_of(clipped(one.name, kMostLetters)));
  column += kSwatch + 2 * Svg::kLetter;
  const auto columns = std::max<std::size_t>(1, static_cast<std::size_t>((kWidth - 2 * kMargin) / column));
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double x = kMargin + static_cast<double>(i % columns) * column;
    const double row = y + static_cast<double>(i / columns) * Svg::kLine;
    const Series& one = series[i];
    const std::string look = one.look < 0 ? "plain" : fmt::format("s{}", one.look % 8);
    if (one.has_line)
      svg.line(x, row - 4, x + 26, row - 4, fmt::format("curve {}{}", look, one.is_dashed ? " dash" : ""));
    if (one.has_marks) svg.mark(x + 13, row - 4, one.look, "mark " + look, "");
    svg.text(x + kSwatch, row, clipped(one.name, kMostLetters));
  }
  return y + std::ceil(static_cast<double>(series.size()) / static_cast<double>(columns)) * Svg::kLine;
}

bool can_show(const Axis& axis, double number) {
  return std::isfinite(number) && (!axis.is_log || number > 0);
}

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  void include(double number) {
    least = std::min(least, number);
    most = std::max(most, number);
  }
};

void draw_axes(Svg& svg, const Scale& across, const Scale& up, double left, double top, double width, double height) {
  for (const Scale::Tick& tick : up.ticks()) {
    const double y = top + height - tick.at;
    svg.line(left, y, left + width, y, "grid");
    svg.text(left - 6, y + 4, tick.text, Anchor::end);
  }
  for (const Scale::Tick& tick : across.ticks()) {
    svg.line(left + tick.at, top, left + tick.at, top + height, "grid");
    svg.text(left + tick.at, top + height + Svg::kLine, tick.text, Anchor::middle);
  }
}

}  // namespace

std::string bar_chart(const std::string& title, const std::string& description, const std::vector<BarGroup>& groups) {
  constexpr std::size_t kMostLetters = 40;
  constexpr double kHeight = 14;
  double names = 0, words = 0, most = 0;
  for (const BarGroup& group : groups) {
    for (const Bar& bar : group.bars) {
      names = std::max(names, width_of(clipped(bar.label, kMostLetters)));
      words = std::max(words, width_of(bar.words));
      most = std::max(most, bar.value);
    }
  }
  const double left = kMargin + names + 8;
  const double longest = kWidth - left - words - 8 - kMargin;
  Svg svg(title, description);
  double y = 4;
  for (const BarGroup& group : groups) {
    y += Svg::kLine;
    svg.text(kMargin, y - 4, clipped(group.name, 110), Anchor::start, "strong");
    for (const Bar& bar : group.bars) {
      const double length = most > 0 ? std::max(1.0, bar.value / most * longest) : 1.0;
      svg.text(left - 8, y + 12, clipped(bar.label, kMostLetters), Anchor::end, bar.is_default ? "strong" : "");
      svg.bar(left, y + 1, length, kHeight, bar.is_default ? "ours best" : bar.is_ours ? "ours" : "peer", bar.tip);
      svg.text(left + length + 6, y + 12, bar.words);
      y += Svg::kLine + 1;
    }
    y += 6;
  }
  return svg.finish(kWidth, y + 4);
}

std::string xy_chart(const std::string& title, const std::string& description, const Axis& x, const Axis& y,
                     std::vector<Series> series) {
  Range across, up;
  for (Series& one : series) {
    std::erase_if(one.points, [&](const Point& point) { return !can_show(x, point.x) || !can_show(y, point.y); });
    for (const Point& point : one.points) {
      across.include(point.x);
      up.include(point.y);
    }
  }
  std::erase_if(series, [](const Series& one) { return one.points.empty(); });
  if (series.empty()) return "";

  constexpr double kLeft = 70, kTop = 28, kPlotWidth = kWidth - kLeft - 28, kPlotHeight = 300;
  const Scale right(across.least, across.most, x.is_log, kPlotWidth);
  const Scale above(up.least, up.most, y.is_log, kPlotHeight);
  Svg svg(title, description);
  svg.text(kMargin, 14, y.label, Anchor::start, "strong");
  draw_axes(svg, right, above, kLeft, kTop, kPlotWidth, kPlotHeight);
  for (const Series& one : series) {
    const std::string look = one.look < 0 ? "plain" : fmt::format("s{}", one.look % 8);
    std::vector<std::pair<double, double>> places;
    for (const Point& point : one.points)
      places.emplace_back(kLeft + right.at(point.x), kTop + kPlotHeight - above.at(point.y));
    if (one.has_line) svg.polyline(places, fmt::format("curve {}{}", look, one.is_dashed ? " dash" : ""));
    for (std::size_t i = 0; one.has_marks && i < places.size(); ++i)
      svg.mark(places[i].first, places[i].second, one.look, "mark " + look, one.points[i].tip);
  }
  const double below = kTop + kPlotHeight + 2 * Svg::kLine + 2;
  svg.text(kLeft + kPlotWidth, below, x.label, Anchor::end, "strong");
  return svg.finish(kWidth, draw_legend(svg, series, below + 1.4 * Svg::kLine) + 2);
}

}  // namespace tessera::tool
