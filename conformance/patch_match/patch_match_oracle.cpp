// Where references stand and which candidates they have, straight from the definition.
#include "conformance/patch_match/patch_match_oracle.h"

namespace tessera::conformance {

namespace {

struct Axis {
  std::int64_t PerAxis::*number;
};
constexpr Axis kAxes[] = {{&PerAxis::x}, {&PerAxis::y}, {&PerAxis::z}};

/// 0, step, 2 step ... and the last place.
std::int64_t place_along(std::int64_t number, std::int64_t step, std::int64_t last) {
  return number > 0 && step > last / number ? last : std::min(number * step, last);
}

std::int64_t references_along(std::int64_t step, std::int64_t last) {
  std::int64_t count = 1;
  for (std::int64_t place = 0; place < last; place += std::min(step, last - place)) ++count;
  return count;
}

}  // namespace

PerAxis place_of_reference(const PatchMatch& p, std::int64_t reference) {
  PerAxis place;
  for (const Axis axis : kAxes) {
    const std::int64_t last = p.size.*axis.number - p.patch.*axis.number;
    const std::int64_t count = references_along(p.step.*axis.number, last);
    place.*axis.number = place_along(reference % count, p.step.*axis.number, last);
    reference /= count;
  }
  return place;
}

PatchWindow window_around(const PatchMatch& p, const PerAxis& place) {
  PatchWindow window;
  for (const Axis axis : kAxes) {
    const std::int64_t side = p.window.*axis.number;
    const std::int64_t places = p.size.*axis.number - p.patch.*axis.number + 1;
    const std::int64_t first = place.*axis.number - side / 2;
    window.first.*axis.number = std::max<std::int64_t>(first, 0);
    window.end.*axis.number = std::min(first + side, places);
  }
  return window;
}

}  // namespace tessera::conformance
