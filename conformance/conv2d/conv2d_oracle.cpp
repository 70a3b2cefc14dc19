// The oracle of conv2d.
#include "conformance/conv2d/conv2d_oracle.h"

#include <algorithm>
#include <cmath>

namespace tessera::conformance {

namespace {

std::int64_t anchor_of(std::int64_t anchor, std::int64_t size) {
  return anchor == Conv2d::kCentre ? (size - 1) / 2 : anchor;
}

/// Calls `visit(weight, pixel)` for every weight whose pixel lies in the image.
template <class T, class Visit>
void for_each_product(const Conv2dInputs<T>& inputs, std::int64_t image, std::int64_t y, std::int64_t x, Visit visit) {
  const Conv2d& p = inputs.problem;
  const std::int64_t anchor_y = p.border == Border::same ? anchor_of(p.anchor_y, p.filter_height) : 0;
  const std::int64_t anchor_x = p.border == Border::same ? anchor_of(p.anchor_x, p.filter_width) : 0;
  for (std::int64_t i = 0; i < p.filter_height; ++i) {
    for (std::int64_t j = 0; j < p.filter_width; ++j) {
      // A convolution walks the image backwards from the anchor's pixel: the same weights, the image turned around.
      std::int64_t image_y = y + i - anchor_y;
      std::int64_t image_x = x + j - anchor_x;
      if (p.flip && p.border == Border::same) {
        image_y = y - (i - anchor_y);
        image_x = x - (j - anchor_x);
      } else if (p.flip) {
        image_y = y + p.filter_height - 1 - i;
        image_x = x + p.filter_width - 1 - j;
      }
      if (image_y < 0 || image_y >= p.height || image_x < 0 || image_x >= p.width) continue;
      visit(p.filter[i * p.filter_width + j], inputs.images[(image * p.height + image_y) * p.width + image_x]);
    }
  }
}

/// Every product is rounded once and meets at most products - 1 additions: gamma of the sum's length, as for gemm.
SumBound sum_bound(double products, DataType type) {
  const Arithmetic arithmetic = arithmetic_of(type);
  return {.roundings = products,
          .relative = gamma(products, arithmetic.unit_roundoff) * bound_rounding(products),
          .absolute = 2 * products * arithmetic.smallest_normal};
}

}  // namespace

SumBound conv2d_bound(const Conv2d& problem) {
  return sum_bound(static_cast<double>(problem.filter_height * problem.filter_width), problem.output_type());
}

double conv2d_pixels_in_touch(const Conv2d& problem) {
  const std::int64_t height = problem.filter_height;
  const std::int64_t width = problem.filter_width;
  double itself = 0;
  double others = 0;
  // Of a shift and its opposite one is looked at.
  for (std::int64_t down = 0; down < height; ++down) {
    for (std::int64_t across = down == 0 ? 0 : 1 - width; across < width; ++across) {
      double sum = 0;
      for (std::int64_t i = down; i < height; ++i) {
        for (std::int64_t j = std::max<std::int64_t>(0, across); j < std::min(width, width + across); ++j) {
          sum += problem.filter[i * width + j] * problem.filter[(i - down) * width + j - across];
        }
      }
      (down == 0 && across == 0 ? itself : others) += sum * sum;
    }
  }
  return itself > 0 ? 1 + 2 * others / itself : 1;
}

template <class T>
ExpectedSum conv2d_element(const Conv2dInputs<T>& inputs, std::int64_t image, std::int64_t y, std::int64_t x) {
  if constexpr (std::is_integral_v<T>) {
    std::uint64_t sum = 0;  // modulo 2^64, so modulo 2^32 as well
    for_each_product(inputs, image, y, x, [&](double weight, T pixel) {
      sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(weight)) *
             static_cast<std::uint64_t>(static_cast<std::int64_t>(pixel));
    });
    return {{.value = {static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(sum))), 0}}, 0, 0};
  } else {
    ExactSum sum;
    double magnitude = 0;
    double square = 0;
    double products = 0;
    for_each_product(inputs, image, y, x, [&](double weight, T pixel) {
      const T rounded = static_cast<T>(weight);
      sum.add_product(rounded, pixel);
      const double product = static_cast<double>(rounded) * static_cast<double>(pixel);
      magnitude += std::abs(product);
      square += product * product;
      products += 1;
    });
    const SumBound bound = sum_bound(products, DataType::float32);
    return {{.value = sum.value(), .bound = bound.relative * magnitude + bound.absolute}, magnitude, square};
  }
}

template ExpectedSum conv2d_element(const Conv2dInputs<std::uint8_t>&, std::int64_t, std::int64_t, std::int64_t);
template ExpectedSum conv2d_element(const Conv2dInputs<std::int16_t>&, std::int64_t, std::int64_t, std::int64_t);
template ExpectedSum conv2d_element(const Conv2dInputs<std::int32_t>&, std::int64_t, std::int64_t, std::int64_t);
template ExpectedSum conv2d_element(const Conv2dInputs<float>&, std::int64_t, std::int64_t, std::int64_t);

}  // namespace tessera::conformance
