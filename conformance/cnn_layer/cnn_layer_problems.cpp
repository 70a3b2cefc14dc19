// The list of cnn_layer's cases. Channels straddle blocks of 4 to 64, rows and columns tiles of 2 to 16 outputs and
// their pools; filters are those with fast ways of their own (5x5, 3x3), and others.
#include "conformance/cnn_layer/cnn_layer_problems.h"

#include <cstdint>
#include <string>

#include "conformance/cnn_layer/cnn_layer_case_list.h"
#include "conformance/cnn_layer/cnn_layer_huge.h"

namespace tessera::conformance {

namespace {

/// One channel, and counts that no block divides, in both directions.
void add_channels(CnnLayerCaseList& list, DataType type) {
  for (const LayerChannels& channels :
       {LayerChannels{1, 1}, LayerChannels{1, 7}, LayerChannels{5, 1}, LayerChannels{3, 16}, LayerChannels{16, 17},
        LayerChannels{31, 33}, LayerChannels{64, 65}, LayerChannels{130, 14}, LayerChannels{17, 129}}) {
    list.add_with_fast({.problem = cnn_layer_of(type, channels, {11, 14}, 5, 2)});
    list.add_with_fast({.problem = cnn_layer_of(type, channels, {9, 8}, 3)});
  }
}

/// Sizes: one output, smaller than a tile, one less and one more than tiles and vectors, long and thin.
void add_sizes(CnnLayerCaseList& list, DataType type) {
  for (const LayerSize& size : {LayerSize{5, 5}, LayerSize{5, 6}, LayerSize{8, 8}, LayerSize{9, 9}, LayerSize{12, 13},
                                LayerSize{7, 67}, LayerSize{67, 6}, LayerSize{5, 200}, LayerSize{21, 36}}) {
    list.add_with_fast({.problem = cnn_layer_of(type, {6, 10}, size, 5)});
    list.add_with_fast({.problem = cnn_layer_of(type, {20, 22}, size, 3, 2)});
    list.add_with_fast({.problem = cnn_layer_of(type, {18, 20}, size, 3, 3)});
  }
  for (std::int64_t width = 6; width < 40; width += 3) {
    list.add_with_fast({.problem = cnn_layer_of(type, {3, 5}, {10, width}, 5, 2)});
  }
}

/// Filters of every kind, square or not, as large as the image.
void add_filters(CnnLayerCaseList& list, DataType type) {
  for (const LayerSize& filter :
       {LayerSize{1, 1}, LayerSize{2, 2}, LayerSize{3, 5}, LayerSize{5, 3}, LayerSize{1, 7}, LayerSize{7, 1},
        LayerSize{4, 4}, LayerSize{7, 7}, LayerSize{11, 11}, LayerSize{13, 15}}) {
    CnnLayer problem = cnn_layer_of(type, {5, 9}, {13, 15}, 1);
    problem.filter_height = filter.height;
    problem.filter_width = filter.width;
    list.add({.problem = problem, .every_tuning = filter.height == 7 && filter.width == 7});
    problem.padding = 1;
    problem.layout = Layout::nhwc;
    list.add({.problem = problem, .prepared = false});
  }
}

/// Strides and padding, wider than the filter too, so that some outputs are the bias alone.
void add_steps(CnnLayerCaseList& list, DataType type) {
  for (const std::int64_t filter : {3, 5, 2}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      for (const std::int64_t padding : {0, 1, 2, 6}) {
        if (stride == 1 && padding == 0) continue;
        CnnLayer problem = cnn_layer_of(type, {7, 12}, {14, 17}, filter);
        problem.stride = stride;
        problem.padding = padding;
        stride == 1 ? list.add_with_fast({.problem = problem}) : list.add({.problem = problem});
      }
    }
  }
  // Sums so short that products of split numbers have an error factor above 1, without a bias that would widen bounds.
  for (const std::int64_t filter : {3, 7}) {
    CnnLayer first = cnn_layer_of(type, {3, 21}, {25, 24}, filter);
    first.stride = 2;
    first.padding = filter / 2;
    first.bias = false;
    list.add({.problem = first});
  }
  CnnLayer one_row = cnn_layer_of(type, {4, 6}, {1, 1}, 5);
  one_row.padding = 2;
  list.add_with_fast({.problem = one_row});
}

/// Padding that keeps the image's size, with so many channels that rows of narrow images are copied all at once.
void add_same_size(CnnLayerCaseList& list, DataType type) {
  struct Kept {
    LayerChannels channels;
    LayerSize size;
    std::int64_t filter;
    std::int64_t pool;
  };
  for (const Kept& kept : {Kept{{10, 50}, {7, 7}, 3, 1}, Kept{{16, 60}, {11, 11}, 3, 1}, Kept{{24, 70}, {14, 14}, 3, 2},
                           Kept{{6, 100}, {8, 9}, 5, 1}, Kept{{6, 100}, {8, 9}, 7, 1}}) {
    CnnLayer problem = cnn_layer_of(type, kept.channels, kept.size, kept.filter, kept.pool);
    problem.padding = kept.filter / 2;
    problem.batch = 2;
    list.add({.problem = problem});
  }
}

/// Pools that do not divide what they pool, that overlap, that leave gaps.
void add_pools(CnnLayerCaseList& list, DataType type) {
  for (const std::int64_t pool : {2, 3}) {
    for (const std::int64_t step : {1, 2, 3, 4}) {
      for (const LayerSize& size : {LayerSize{12, 15}, LayerSize{13, 10}}) {
        CnnLayer problem = cnn_layer_of(type, {17, 18}, size, 3, pool);
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
void add_options(CnnLayerCaseList& list, DataType type) {
  for (const std::int64_t filter : {5, 3}) {
    for (const bool relu : {false, true}) {
      for (const bool bias : {false, true}) {
        CnnLayer problem = cnn_layer_of(type, {9, 13}, {14, 12}, filter, 2);
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
        CnnLayer problem = cnn_layer_of(type, {4, 20}, {12, 13}, filter, batch == 5 ? 3 : 2);
        problem.batch = batch;
        problem.layout = layout;
        problem.padding = batch == 2 ? filter / 2 : 0;
        list.add_with_fast({.problem = problem, .misalignment = batch == 5 ? 1U : 0U, .prepared = batch != 2});
      }
    }
    CnnLayer strict = cnn_layer_of(type, {9, 13}, {14, 12}, filter, 2);
    strict.accuracy = Accuracy::strict;
    list.add({.problem = strict});
    for (const bool prepared : {false, true}) {
      for (const std::int64_t pool : {1, 2, 3}) {
        // Enough channels for every variant with Accuracy::accurate, and every tuning of them.
        list.add({.problem = cnn_layer_of(type, {80, 37}, {15, 17}, filter, pool),
                  .misalignment = prepared ? 0U : 3U,
                  .prepared = prepared,
                  .every_tuning = prepared && pool == 2});
      }
    }
  }
}

/// Batches of images so small that several are computed together: filters of one pixel, padding, strides, pools.
void add_small_images(CnnLayerCaseList& list, DataType type) {
  CnnLayer pixels = cnn_layer_of(type, {20, 40}, {7, 7}, 1);
  CnnLayer padded = cnn_layer_of(type, {20, 200}, {7, 6}, 3);
  padded.padding = 1;
  CnnLayer strided = cnn_layer_of(type, {7, 33}, {9, 11}, 5);
  strided.padding = strided.stride = 2;
  CnnLayer pooled = cnn_layer_of(type, {9, 200}, {7, 8}, 3, 2);
  pooled.padding = 1;
  CnnLayer pooled_nhwc = pooled;
  pooled_nhwc.layout = Layout::nhwc;
  for (CnnLayer* layer : {&pixels, &padded, &strided, &pooled, &pooled_nhwc}) {
    layer->batch = 12;
    list.add({.problem = *layer, .misalignment = layer == &strided ? 1U : 0U, .prepared = layer != &padded});
  }
}

/// With as many input channels as let tiles of four rows and six columns be accurate enough, in float32 alone; and with
/// few, where Accuracy::fast lets them, in every tuning, since these tiles are chosen for large layers alone.
void add_deep(CnnLayerCaseList& list) {
  for (const std::int64_t pool : {1, 2}) {
    CnnLayer problem = cnn_layer_of(DataType::float32, {256, 37}, {12, 23}, 5, pool);
    problem.padding = pool == 2 ? 2 : 1;
    problem.batch = pool;
    list.add({.problem = problem});
  }
  CnnLayer few = cnn_layer_of(DataType::float32, {11, 37}, {15, 28}, 5, 2);
  few.padding = 2;
  few.accuracy = Accuracy::fast;
  list.add({.problem = few, .every_tuning = true});
}

void add_slow(CnnLayerCaseList& list, DataType type) {
  list.add({.problem = cnn_layer_of(type, {96, 100}, {61, 59}, 5, 2), .purpose = Purpose::slow});
  list.add({.problem = cnn_layer_of(type, {67, 131}, {47, 53}, 3), .purpose = Purpose::slow});
  list.add({.problem = cnn_layer_of(type, {2, 3}, {9, 20011}, 3, 2), .purpose = Purpose::slow});
  list.add({.problem = cnn_layer_of(type, {3, 2}, {20011, 7}, 5), .purpose = Purpose::slow});
  list.add({.problem = cnn_layer_of(type, {700, 5}, {9, 9}, 3), .purpose = Purpose::slow});
  CnnLayer many = cnn_layer_of(type, {1, 2}, {4, 3}, 3);
  many.batch = 70001;  // more than a grid's third axis takes
  list.add({.problem = many, .purpose = Purpose::slow});
  list.add({.problem = cnn_layer_of(type, {1, 70001}, {3, 4}, 3), .purpose = Purpose::slow});
}

/// The study's layer, and a second set of layers from networks in use.
void add_benchmarks(CnnLayerCaseList& list) {
  constexpr DataType kType = DataType::float32;
  list.add({.problem = cnn_layer_of(kType, {256, 256}, {228, 228}, 5, 2), .purpose = Purpose::benchmark});
  CnnLayer strict = cnn_layer_of(kType, {256, 256}, {228, 228}, 5, 2);
  strict.accuracy = Accuracy::strict;
  list.add({.problem = strict, .purpose = Purpose::benchmark});
  for (const std::int64_t batch : {1, 8}) {
    CnnLayer narrow = cnn_layer_of(kType, {64, 64}, {56, 56}, 3, 2);
    CnnLayer wide = cnn_layer_of(kType, {256, 512}, {28, 28}, 3);
    CnnLayer first = cnn_layer_of(kType, {3, 32}, {224, 224}, 5, 2);
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
  ProblemSet set{.operator_name = std::string(CnnLayer::kName), .cases = {}, .make_case = cnn_layer_case_of};
  CnnLayerCaseList list(set.cases);
  for (const DataType type : {DataType::float32, DataType::float64}) {
    add_channels(list, type);
    add_sizes(list, type);
    add_filters(list, type);
    add_steps(list, type);
    add_same_size(list, type);
    add_pools(list, type);
    add_options(list, type);
    add_small_images(list, type);
    add_cnn_layer_values(set.cases, type);
    add_slow(list, type);
  }
  add_deep(list);
  add_benchmarks(list);
  for (const CnnLayerFar far : {CnnLayerFar::planes, CnnLayerFar::pixels, CnnLayerFar::batch}) {
    set.cases.push_back(make_huge_cnn_layer_case(far));
  }
  add_cnn_layer_study(set.cases);
  return set;
}

}  // namespace tessera::conformance
