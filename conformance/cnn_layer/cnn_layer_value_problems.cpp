// Cases of cnn_layer that are about what the operands hold: infinities, NaN, vanishing products, single pixels far
// larger than all others, pictures.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cnn_layer/cnn_layer_case_list.h"
#include "conformance/cnn_layer/cnn_layer_problems.h"

namespace tessera::conformance {

namespace {

/// Infinities and NaN reach exactly the outputs whose filter covers them, and neither ReLU nor pool hides a NaN.
void add_special(CnnLayerCaseList& list, DataType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t filter : {3, 5}) {
    for (const std::int64_t pool : {1, 2, 3}) {
      const CnnLayer problem = cnn_layer_of(type, {filter == 3 ? 18 : 6, 19}, {17, 22}, filter, pool);
      list.add_with_fast({.problem = problem, .plants = {{'i', 0, kNan}, {'i', 1000, kNan}}, .note = "nan"});
      list.add_with_fast({.problem = problem,
                          .values = Values::positive,
                          .plants = {{'i', 700, kInfinity}, {'i', 1500, -kInfinity}, {'w', 3, 0.0}},
                          .note = "inf"});
      list.add_with_fast({.problem = problem,
                          .plants = {{'w', 30, kNan}, {'w', 200, kInfinity}, {'w', 400, -kInfinity}},
                          .note = "weights"});
      list.add_with_fast(
          {.problem = problem, .plants = {{'b', 2, kNan}, {'b', 5, kInfinity}, {'b', 7, -kInfinity}}, .note = "bias"});
    }
    CnnLayer nhwc = cnn_layer_of(type, {6, 11}, {17, 22}, filter, 2);
    nhwc.layout = Layout::nhwc;
    nhwc.padding = 1;
    list.add_with_fast({.problem = nhwc, .plants = {{'i', 5, kNan}, {'i', 1201, kInfinity}}, .note = "nan_inf"});
  }
}

/// Values of one sign, of very different size, and so small that products vanish.
void add_values(CnnLayerCaseList& list, DataType type) {
  for (const std::int64_t filter : {3, 5}) {
    for (const auto& [values, note] :
         {std::pair{Values::positive, "positive"}, std::pair{Values::wide, "wide"}, std::pair{Values::tiny, "tiny"}}) {
      list.add_with_fast(
          {.problem = cnn_layer_of(type, {20, 19}, {13, 18}, filter, 2), .values = values, .note = note});
    }
  }
}

/// One pixel far larger than all others, of one channel of as many as winograd needs to be accurate enough. Outputs
/// that do not see it must not feel it, whichever place of a tile it has.
void add_outliers(CnnLayerCaseList& list, DataType type) {
  for (const std::int64_t filter : {3, 5}) {
    const std::int64_t channels = filter == 3 ? 24 : 40;
    for (const double outlier : {1e2, -1e3, 1e4, 1e6, -1e8, 1e12, 1e20, -1e30}) {
      CnnLayer problem = cnn_layer_of(type, {channels, 10}, {19, 22}, filter);
      problem.relu = false;
      const std::string note = "outlier_1e" + std::to_string(std::lround(std::log10(std::abs(outlier))));
      const std::int64_t plane = problem.height * problem.width;
      // In the middle, in a corner, at an edge.
      list.add_with_fast({.problem = problem, .plants = {{'i', 3 * plane + 9 * 22 + 11, outlier}}, .note = note});
      problem.padding = filter / 2;
      list.add({.problem = problem, .plants = {{'i', 7 * plane, outlier}}, .note = note + "_corner"});
      problem.pool_size = 2;
      problem.relu = true;
      problem.layout = Layout::nhwc;
      list.add({.problem = problem,
                .values = Values::positive,
                .plants = {{'i', (6 * 22 + 21) * channels + 5, outlier}, {'i', 14 * 22 * channels + 1, outlier}},
                .note = note + "_edge"});
    }
    // Every place of a tile, and tiles of both sides.
    for (std::int64_t place = 0; place < 8; ++place) {
      CnnLayer problem = cnn_layer_of(type, {channels, 4}, {18, 18}, filter);
      problem.relu = false;
      list.add({.problem = problem,
                .plants = {{'i', 2 * 18 * 18 + (5 + place) * 18 + 5 + (place * 3) % 8, 1e8}},
                .note = "outlier_at_" + std::to_string(place),
                .every_tuning = true});
    }
  }
}

/// The same with as many channels as let tiles of four rows and six columns be accurate enough, in float32 alone.
void add_deep_outliers(CnnLayerCaseList& list) {
  for (const double outlier : {1e2, 1e5}) {
    CnnLayer problem = cnn_layer_of(DataType::float32, {256, 5}, {17, 22}, 5);
    problem.relu = false;
    std::vector<CnnLayerPlant> plants;
    for (std::int64_t place = 0; place < 3; ++place) {
      plants.push_back({'i', place * 40 * 17 * 22 + (2 + 5 * place) * 22 + 3 + 7 * place, outlier});
    }
    list.add({.problem = problem,
              .plants = std::move(plants),
              .note = "outliers_1e" + std::to_string(std::lround(std::log10(outlier))),
              .every_tuning = outlier == 1e5});
  }
}

/// Pixels of 0 to 255 with some of 65535, dark and bright halves, and a background of zeros, whose outputs are exact.
void add_pictures(CnnLayerCaseList& list, DataType type) {
  for (const std::int64_t filter : {3, 5}) {
    const std::int64_t channels = filter == 3 ? 24 : 40;
    CnnLayer problem = cnn_layer_of(type, {channels, 9}, {21, 25}, filter);
    const std::int64_t plane = problem.height * problem.width;
    problem.padding = filter / 2;
    problem.relu = false;
    std::vector<CnnLayerPlant> hot;
    std::vector<CnnLayerPlant> halves;
    std::vector<CnnLayerPlant> background;
    for (std::int64_t pixel = 0; pixel < plane; ++pixel) {
      if (pixel % 97 == 40) hot.push_back({'i', pixel % channels * plane + pixel, 65535});
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::int64_t index = channel * plane + pixel;
        if (pixel % 25 < 11) halves.push_back({'i', index, 1e-3 * static_cast<double>(1 + index % 7)});
        if (pixel % 25 < 10 || pixel / 25 > 13) background.push_back({'i', index, 0});
      }
    }
    const auto add = [&](std::vector<CnnLayerPlant> plants, const char* note) {
      list.add_with_fast({.problem = problem,
                          .values = Values::positive,
                          .pixel_scale = 255,
                          .plants = std::move(plants),
                          .note = note});
    };
    add(std::move(hot), "hot_pixels");
    add(std::move(halves), "halves");
    add(std::move(background), "background");
    list.add({.problem = problem, .pixel_scale = 0, .note = "black"});
  }
}

}  // namespace

void add_cnn_layer_values(std::vector<std::unique_ptr<Case>>& cases, DataType type) {
  CnnLayerCaseList list(cases);
  add_special(list, type);
  add_values(list, type);
  add_outliers(list, type);
  if (type == DataType::float32) add_deep_outliers(list);
  add_pictures(list, type);
}

}  // namespace tessera::conformance
