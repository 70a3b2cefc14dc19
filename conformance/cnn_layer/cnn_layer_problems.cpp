// The list of cnn_layer's cases. Channels straddle blocks of 4 to 64, rows and columns tiles of 2 to 16 outputs and
// their pools; filters are those with fast ways of their own (5x5, 3x3), and others.
#include "conformance/cnn_layer/cnn_layer_problems.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cnn_layer/cnn_layer_case.h"
#include "conformance/cnn_layer/cnn_layer_huge.h"

namespace tessera::conformance {

namespace {

struct Channels {
  std::int64_t input;
  std::int64_t output;
};
struct Size {
  std::int64_t height;
  std::int64_t width;
};

CnnLayer layer_of(DataType type, const Channels& channels, const Size& size, std::int64_t filter,
                  std::int64_t pool_size = 1) {
  return {.input_channels = channels.input,
          .output_channels = channels.output,
          .height = size.height,
          .width = size.width,
          .filter_height = filter,
          .filter_width = filter,
          .pool_size = pool_size,
          .type = type};
}

/// Each problem is added once as it is and, with `also_fast`, once with Accuracy::fast, under which variants with a
/// large error factor take it too.
class CaseList {
 public:
  explicit CaseList(std::vector<std::unique_ptr<Case>>& cases) : cases_(&cases) {}
  void add(CnnLayerSpec spec) { cases_->push_back(make_cnn_layer_case(std::move(spec))); }
  void add_with_fast(CnnLayerSpec spec) {
    add(spec);
    spec.problem.accuracy = Accuracy::fast;
    add(std::move(spec));
  }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
};

/// One channel, and counts that no block divides, in both directions.
void add_channels(CaseList& list, DataType type) {
  for (const Channels& channels : {Channels{1, 1}, Channels{1, 7}, Channels{5, 1}, Channels{3, 16}, Channels{16, 17},
                                   Channels{31, 33}, Channels{64, 65}, Channels{130, 14}, Channels{17, 129}}) {
    list.add_with_fast({.problem = layer_of(type, channels, {11, 14}, 5, 2)});
    list.add_with_fast({.problem = layer_of(type, channels, {9, 8}, 3)});
  }
}

/// Sizes: one output, smaller than a tile, one less and one more than tiles and vectors, long and thin.
void add_sizes(CaseList& list, DataType type) {
  for (const Size& size : {Size{5, 5}, Size{5, 6}, Size{8, 8}, Size{9, 9}, Size{12, 13}, Size{7, 67}, Size{67, 6},
                           Size{5, 200}, Size{21, 36}}) {
    list.add_with_fast({.problem = layer_of(type, {6, 10}, size, 5)});
    list.add_with_fast({.problem = layer_of(type, {20, 22}, size, 3, 2)});
    list.add_with_fast({.problem = layer_of(type, {18, 20}, size, 3, 3)});
  }
  for (std::int64_t width = 6; width < 40; width += 3) {
    list.add_with_fast({.problem = layer_of(type, {3, 5}, {10, width}, 5, 2)});
  }
}

/// Filters of every kind, square or not, as large as the image.
void add_filters(CaseList& list, DataType type) {
  for (const Size& filter : {Size{1, 1}, Size{2, 2}, Size{3, 5}, Size{5, 3}, Size{1, 7}, Size{7, 1}, Size{4, 4},
                             Size{7, 7}, Size{11, 11}, Size{13, 15}}) {
    CnnLayer problem = layer_of(type, {5, 9}, {13, 15}, 1);
    problem.filter_height = filter.height;
    problem.filter_width = filter.width;
    list.add({.problem = problem, .every_tuning = filter.height == 7 && filter.width == 7});
    problem.padding = 1;
    problem.layout = Layout::nhwc;
    list.add({.problem = problem, .prepared = false});
  }
}

/// Strides and padding, wider than the filter too, so that some outputs are the bias alone.
void add_steps(CaseList& list, DataType type) {
  for (const std::int64_t filter : {3, 5, 2}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      for (const std::int64_t padding : {0, 1, 2, 6}) {
        if (stride == 1 && padding == 0) continue;
        CnnLayer problem = layer_of(type, {7, 12}, {14, 17}, filter);
        problem.stride = stride;
        problem.padding = padding;
        stride == 1 ? list.add_with_fast({.problem = problem}) : list.add({.problem = problem});
      }
    }
  }
  CnnLayer one_row = layer_of(type, {4, 6}, {1, 1}, 5);
  one_row.padding = 2;
  list.add_with_fast({.problem = one_row});
}

/// Padding that keeps the image's size, with so many channels that rows of narrow images are copied all at once.
void add_same_size(CaseList& list, DataType type) {
  struct Kept {
    Channels channels;
    Size size;
    std::int64_t filter;
    std::int64_t pool;
  };
  for (const Kept& kept : {Kept{{10, 50}, {7, 7}, 3, 1}, Kept{{16, 60}, {11, 11}, 3, 1}, Kept{{24, 70}, {14, 14}, 3, 2},
                           Kept{{6, 100}, {8, 9}, 5, 1}, Kept{{6, 100}, {8, 9}, 7, 1}}) {
    CnnLayer problem = layer_of(type, kept.channels, kept.size, kept.filter, kept.pool);
    problem.padding = kept.filter / 2;
    problem.batch = 2;
    list.add({.problem = problem});
  }
}

/// Pools that do not divide what they pool, that overlap, that leave gaps.
void add_pools(CaseList& list, DataType type) {
  for (const std::int64_t pool : {2, 3}) {
    for (const std::int64_t step : {1, 2, 3, 4}) {
      for (const Size& size : {Size{12, 15}, Size{13, 10}}) {
        CnnLayer problem = layer_of(type, {17, 18}, size, 3, pool);
        problem.pool_stride = step;
        list.add_with_fast({.problem = problem});
        problem.input_channels = 5;
        problem.filter_height = problem.filter_width = 5;
        problem.padding = 2;
        problem.layout = size.height == 13 ? Layout::nhwc : Layout::nchw;
        list.add_with_fast({.problem = problem, .prepared = size.height == 13});
      }
    }
  }
}

/// Without bias, without ReLU, both layouts, batches, raw and prepared weights.
void add_options(CaseList& list, DataType type) {
  for (const std::int64_t filter : {5, 3}) {
    for (const bool relu : {false, true}) {
      for (const bool bias : {false, true}) {
        CnnLayer problem = layer_of(type, {9, 13}, {14, 12}, filter, 2);
        problem.relu = relu;
        problem.bias = bias;
        list.add_with_fast({.problem = problem, .prepared = relu});
        problem.layout = Layout::nhwc;
        problem.pool_size = 1;
        list.add_with_fast({.problem = problem, .prepared = bias});
      }
    }
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      for (const std::int64_t batch : {0, 2, 5}) {
        CnnLayer problem = layer_of(type, {4, 20}, {12, 13}, filter, batch == 5 ? 3 : 2);
        problem.batch = batch;
        problem.layout = layout;
        problem.padding = batch == 2 ? filter / 2 : 0;
        list.add_with_fast({.problem = problem, .misalignment = batch == 5 ? 1U : 0U, .prepared = batch != 2});
      }
    }
    CnnLayer strict = layer_of(type, {9, 13}, {14, 12}, filter, 2);
    strict.accuracy = Accuracy::strict;
    list.add({.problem = strict});
    for (const bool prepared : {false, true}) {
      for (const std::int64_t pool : {1, 2, 3}) {
        // Enough channels for every variant with Accuracy::accurate, and every tuning of them.
        list.add({.problem = layer_of(type, {80, 37}, {15, 17}, filter, pool),
                  .misalignment = prepared ? 0U : 3U,
                  .prepared = prepared,
                  .every_tuning = prepared && pool == 2});
      }
    }
  }
}

/// Infinities and NaN reach exactly the outputs whose filter covers them, and neither ReLU nor pool hides a NaN.
void add_special(CaseList& list, DataType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t filter : {3, 5}) {
    for (const std::int64_t pool : {1, 2, 3}) {
      const CnnLayer problem = layer_of(type, {filter == 3 ? 18 : 6, 19}, {17, 22}, filter, pool);
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
    CnnLayer nhwc = layer_of(type, {6, 11}, {17, 22}, filter, 2);
    nhwc.layout = Layout::nhwc;
    nhwc.padding = 1;
    list.add_with_fast({.problem = nhwc, .plants = {{'i', 5, kNan}, {'i', 1201, kInfinity}}, .note = "nan_inf"});
  }
}

/// Values of one sign, of very different size, and so small that products vanish.
void add_values(CaseList& list, DataType type) {
  for (const std::int64_t filter : {3, 5}) {
    for (const auto& [values, note] :
         {std::pair{Values::positive, "positive"}, std::pair{Values::wide, "wide"}, std::pair{Values::tiny, "tiny"}}) {
      list.add_with_fast({.problem = layer_of(type, {20, 19}, {13, 18}, filter, 2), .values = values, .note = note});
    }
  }
}

/// One pixel far larger than all others, of one channel of as many as winograd needs to be accurate enough. Outputs
/// that do not see it must not feel it, whichever place of a tile it has.
void add_outliers(CaseList& list, DataType type) {
  for (const std::int64_t filter : {3, 5}) {
    const std::int64_t channels = filter == 3 ? 24 : 40;
    for (const double outlier : {1e2, -1e3, 1e4, 1e6, -1e8, 1e12, 1e20, -1e30}) {
      CnnLayer problem = layer_of(type, {channels, 10}, {19, 22}, filter);
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
      CnnLayer problem = layer_of(type, {channels, 4}, {18, 18}, filter);
      problem.relu = false;
      list.add({.problem = problem,
                .plants = {{'i', 2 * 18 * 18 + (5 + place) * 18 + 5 + (place * 3) % 8, 1e8}},
                .note = "outlier_at_" + std::to_string(place),
                .every_tuning = true});
    }
  }
}

/// Pixels of 0 to 255 with some of 65535, dark and bright halves, and a background of zeros, whose outputs are exact.
void add_pictures(CaseList& list, DataType type) {
  for (const std::int64_t filter : {3, 5}) {
    const std::int64_t channels = filter == 3 ? 24 : 40;
    CnnLayer problem = layer_of(type, {channels, 9}, {21, 25}, filter);
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

void add_slow(CaseList& list, DataType type) {
  list.add({.problem = layer_of(type, {96, 100}, {61, 59}, 5, 2), .purpose = Purpose::slow});
  list.add({.problem = layer_of(type, {67, 131}, {47, 53}, 3), .purpose = Purpose::slow});
  list.add({.problem = layer_of(type, {2, 3}, {9, 20011}, 3, 2), .purpose = Purpose::slow});
  list.add({.problem = layer_of(type, {3, 2}, {20011, 7}, 5), .purpose = Purpose::slow});
  list.add({.problem = layer_of(type, {700, 5}, {9, 9}, 3), .purpose = Purpose::slow});
  CnnLayer many = layer_of(type, {1, 2}, {4, 3}, 3);
  many.batch = 70001;  // more than a grid's third axis takes
  list.add({.problem = many, .purpose = Purpose::slow});
  list.add({.problem = layer_of(type, {1, 70001}, {3, 4}, 3), .purpose = Purpose::slow});
}

/// The study's layer, and a second set of layers from networks in use.
void add_benchmarks(CaseList& list) {
  constexpr DataType kType = DataType::float32;
  list.add({.problem = layer_of(kType, {256, 256}, {228, 228}, 5, 2), .purpose = Purpose::benchmark});
  CnnLayer strict = layer_of(kType, {256, 256}, {228, 228}, 5, 2);
  strict.accuracy = Accuracy::strict;
  list.add({.problem = strict, .purpose = Purpose::benchmark});
  for (const std::int64_t batch : {1, 8}) {
    CnnLayer narrow = layer_of(kType, {64, 64}, {56, 56}, 3, 2);
    CnnLayer wide = layer_of(kType, {256, 512}, {28, 28}, 3);
    CnnLayer first = layer_of(kType, {3, 32}, {224, 224}, 5, 2);
    narrow.padding = wide.padding = 1;
    first.padding = 2;
    for (CnnLayer* layer : {&narrow, &wide, &first}) {
      layer->batch = batch;
      list.add({.problem = *layer, .purpose = Purpose::benchmark});
    }
  }
}

}  // namespace

ProblemSet cnn_layer_problem_set() {
  ProblemSet set{.operator_name = std::string(CnnLayer::kName), .cases = {}};
  CaseList list(set.cases);
  for (const DataType type : {DataType::float32, DataType::float64}) {
    add_channels(list, type);
    add_sizes(list, type);
    add_filters(list, type);
    add_steps(list, type);
    add_same_size(list, type);
    add_pools(list, type);
    add_options(list, type);
    add_special(list, type);
    add_values(list, type);
    add_outliers(list, type);
    add_pictures(list, type);
    add_slow(list, type);
  }
  add_benchmarks(list);
  for (const CnnLayerFar far : {CnnLayerFar::planes, CnnLayerFar::pixels, CnnLayerFar::batch}) {
    set.cases.push_back(make_huge_cnn_layer_case(far));
  }
  add_cnn_layer_study(set.cases);
  return set;
}

}  // namespace tessera::conformance
