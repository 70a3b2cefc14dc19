// Ten ellipsoids: the places and sizes of L. A. Shepp and B. F. Logan, "The Fourier reconstruction of a head section",
// 1974, extended along z, with the contrasts that P. Toft, "The Radon transform", 1996, gave them so that they are
// seen. Where ellipsoids lie in one another their values add up.
#include "tools/phantom/shepp_logan.h"

#include <array>

#include "tools/random/integer_random.h"

namespace tessera::tool {

namespace {

struct Axes {
  double x = 0;
  double y = 0;
  double z = 0;
};

/// Cosines and sines are written out, so that no machine's own decide about a voxel: of 18 degrees.
constexpr double kCosine18 = 0.95105651629515357;
constexpr double kSine18 = 0.30901699437494742;

struct Ellipsoid {
  int tenths;  ///< of kPhantomRange
  Axes half;   ///< half axes
  Axes middle;
  double cosine = 1;  ///< of the angle by which it is turned around z
  double sine = 0;
};
constexpr std::array<Ellipsoid, 10> kEllipsoids{{
    {10, {0.6900, 0.920, 0.810}, {0, 0, 0}},
    {-8, {0.6624, 0.874, 0.780}, {0, -0.0184, 0}},
    {-2, {0.1100, 0.310, 0.220}, {0.22, 0, 0}, kCosine18, -kSine18},
    {-2, {0.1600, 0.410, 0.280}, {-0.22, 0, 0}, kCosine18, kSine18},
    {1, {0.2100, 0.250, 0.410}, {0, 0.35, -0.15}},
    {1, {0.0460, 0.046, 0.050}, {0, 0.1, 0.25}},
    {1, {0.0460, 0.046, 0.050}, {0, -0.1, 0.25}},
    {1, {0.0460, 0.023, 0.050}, {-0.08, -0.605, 0}},
    {1, {0.0230, 0.023, 0.020}, {0, -0.606, 0}},
    {1, {0.0230, 0.046, 0.020}, {0.06, -0.605, 0}},
}};

double square(double number) {
  return number * number;
}

bool holds(const Ellipsoid& e, const Axes& point) {
  const double x = point.x - e.middle.x, y = point.y - e.middle.y, z = point.z - e.middle.z;
  const double along = e.cosine * x + e.sine * y, across = e.cosine * y - e.sine * x;
  return square(along / e.half.x) + square(across / e.half.y) + square(z / e.half.z) <= 1;
}

/// The middle of a voxel, from -1 to 1.
double middle_of(std::int64_t voxel, std::int64_t count) {
  return static_cast<double>(2 * voxel + 1 - count) / static_cast<double>(count);
}

}  // namespace

std::vector<double> phantom_plane(const PerAxis& size, std::int64_t z) {
  std::vector<double> plane;
  plane.reserve(static_cast<std::size_t>(size.x * size.y));
  for (std::int64_t y = 0; y < size.y; ++y) {
    for (std::int64_t x = 0; x < size.x; ++x) {
      // y runs down in files, and up to the forehead in the phantom.
      const Axes point{middle_of(x, size.x), -middle_of(y, size.y), middle_of(z, size.z)};
      int tenths = 0;
      for (const Ellipsoid& e : kEllipsoids) tenths += holds(e, point) ? e.tenths : 0;
      plane.push_back(kPhantomRange * tenths / 10);
    }
  }
  return plane;
}

double phantom_noise(std::uint64_t seed, std::uint64_t voxel, double sigma) {
  constexpr std::int64_t kUnits = 65536;  // of a whole number in one sigma
  IntegerRandom random(seed, 0, voxel);
  return sigma * static_cast<double>(random.normal(kUnits)) / static_cast<double>(kUnits);
}

}  // namespace tessera::tool
