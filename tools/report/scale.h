// From numbers to places along an axis, and the numbers that are written there.
#pragma once

#include <string>
#include <vector>

namespace tessera::tool {

class Scale {
 public:
  /// From `least` to `most`, widened to whole decades or round steps; to `length` units. Logarithmic scales need
  /// positive numbers.
  Scale(double least, double most, bool is_log, double length);

  [[nodiscard]] double at(double number) const;

  struct Tick {
    double at = 0;
    std::string text;
  };
  [[nodiscard]] const std::vector<Tick>& ticks() const noexcept { return ticks_; }

 private:
  void set_decades();
  void set_steps();

  double least_;
  double most_;
  bool is_log_;
  double length_;
  std::vector<Tick> ticks_;
};

/// "1", "0.1", "2.5k", "10M": as short as a tick must be.
[[nodiscard]] std::string short_number(double number);

}  // namespace tessera::tool
