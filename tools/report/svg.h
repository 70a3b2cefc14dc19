// Drawing in SVG, and text that is safe inside HTML and SVG. Widths of texts are known, because charts use letters of
// one width.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::tool {

/// With what means something in markup replaced, and bytes that no page may hold left out.
[[nodiscard]] std::string escaped(std::string_view text);
/// At most so many letters, with an ellipsis for the rest.
[[nodiscard]] std::string clipped(const std::string& text, std::size_t letters);
/// Letters, not bytes.
[[nodiscard]] std::size_t letters_of(std::string_view text);

enum class Anchor { start, middle, end };

class Svg {
 public:
  /// Of a chart's text, in the drawing's units.
  static constexpr double kLetter = 7.25;
  static constexpr double kLine = 18;

  /// `title` and `description` are what a screen reader says.
  Svg(std::string title, std::string description);

  /// All take a class, which the page's style gives its colour.
  void text(double x, double y, const std::string& text, Anchor anchor = Anchor::start, std::string_view of_class = "");
  void line(double x1, double y1, double x2, double y2, std::string_view of_class);
  void bar(double x, double y, double width, double height, std::string_view of_class, const std::string& tip);
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view of_class);
  /// One of six shapes, so that series differ without their colours.
  void mark(double x, double y, int shape, std::string_view of_class, const std::string& tip);

  /// The whole drawing.
  [[nodiscard]] std::string finish(double width, double height) const;

 private:
  std::string title_;
  std::string description_;
  std::string body_;
};

}  // namespace tessera::tool
