// Numbers have one decimal: a tenth of a unit is less than a pixel.
#include "tools/report/svg.h"

#include <array>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

std::string tip_of(const std::string& tip) {
  return tip.empty() ? "" : fmt::format("<title>{}</title>", escaped(tip));
}

bool continues_a_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

/// Round a centre, 9 units wide.
constexpr std::array<const char*, 6> kShapes{
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
    "M-4-4h8v8h-8z",
    "M0-5L5 4H-5z",
    "M0-5.5L5.5 0 0 5.5-5.5 0z",
    "M0 5L5-4H-5z",
    "M-5-2h3v-3h4v3h3v4h-3v3h-4v-3h-3z",
};

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char letter : text) {
    switch (letter) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default:
        if (static_cast<unsigned char>(letter) >= 0x20) safe += letter;
    }
  }
  return safe;
}

std::size_t letters_of(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += continues_a_letter(byte) ? 0 : 1;
  return count;
}

std::string clipped(const std::string& text, std::size_t letters) {
  if (letters_of(text) <= letters) return text;
  std::size_t end = 0, count = 0;
  while (end < text.size() && (count + 1 < letters || continues_a_letter(text[end]))) {
    ++end;
    if (end < text.size() && !continues_a_letter(text[end])) ++count;
  }
  return text.substr(0, end) + "\u2026";
}

Svg::Svg(std::string title, std::string description) : title_(std::move(title)), description_(std::move(description)) {}

void Svg::text(double x, double y, const std::string& text, Anchor anchor, std::string_view of_class) {
  static constexpr std::array<const char*, 3> kAnchors{"start", "middle", "end"};
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y,
                       kAnchors[static_cast<std::size_t>(anchor)], of_class, escaped(text));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view of_class) {
  body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                       of_class);
}

void Svg::bar(double x, double y, double width, double height, std::string_view of_class, const std::string& tip) {
  body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\">{}</rect>\n", x,
                       y, width, height, of_class, tip_of(tip));
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view of_class) {
  std::string text;
  for (const auto& [x, y] : points) text += fmt::format("{:.1f},{:.1f} ", x, y);
  body_ += fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", text, of_class);
}

void Svg::mark(double x, double y, int shape, std::string_view of_class, const std::string& tip) {
  body_ += fmt::format("<path transform=\"translate({:.1f} {:.1f})\" d=\"{}\" class=\"{}\">{}</path>\n", x, y,
                       kShapes[static_cast<std::size_t>(shape) % kShapes.size()], of_class, tip_of(tip));
}

std::string Svg::finish(double width, double height) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\" aria-label=\"{2}\"><title>{2}</title><desc>{3}</desc>\n{4}</svg>\n",
      width, height, escaped(title_), escaped(description_), body_);
}

}  // namespace tessera::tool
