// A logarithmic axis has at most seven numbers: powers of ten, or of a thousand and so on where there are many decades.
#include "tools/report/scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

constexpr int kMostTicks = 7;

}  // namespace

Scale::Scale(double least, double most, bool is_log, double length)
    : least_(least), most_(most), is_log_(is_log), length_(length) {
  if (is_log_) {
    set_decades();
  } else {
    set_steps();
  }
}

double Scale::at(double number) const {
  const double share =
      is_log_ ? (std::log10(number) - least_) / (most_ - least_) : (number - least_) / (most_ - least_);
  return std::clamp(share, 0.0, 1.0) * length_;
}

void Scale::set_decades() {
  least_ = std::floor(std::log10(least_) + 1e-9);
  most_ = std::max(least_ + 1, std::ceil(std::log10(most_) - 1e-9));
  const int step = static_cast<int>(std::ceil((most_ - least_) / (kMostTicks - 1)));
  for (double power = least_; power <= most_; power += step) {
    const double number = std::pow(10.0, power);
    ticks_.push_back({at(number), short_number(number)});
  }
}

void Scale::set_steps() {
  least_ = std::min(least_, 0.0);
  if (!(most_ > least_)) most_ = least_ + 1;
  const double rough = (most_ - least_) / (kMostTicks - 2);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double round : {5.0, 2.0, 1.0}) {
    if (rough <= round * power) step = round * power;
  }
  most_ = std::ceil(most_ / step - 1e-9) * step;
  least_ = std::floor(least_ / step + 1e-9) * step;
  const auto count = static_cast<int>(std::lround((most_ - least_) / step));
  for (int i = 0; i <= count; ++i) {
    const double number = least_ + i * step;
    ticks_.push_back({at(number), short_number(number)});
  }
}

std::string short_number(double number) {
  static constexpr std::array<std::pair<double, const char*>, 4> kUnits{
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [unit, letter] : kUnits) {
    if (std::abs(number) >= unit * 0.9999999) return fmt::format("{:.4g}{}", number / unit, letter);
  }
  return std::abs(number) < 1e-3 && number != 0 ? fmt::format("{:.0e}", number) : fmt::format("{:.4g}", number);
}

}  // namespace tessera::tool
