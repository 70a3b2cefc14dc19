// How the files that list cnn_layer's cases write them down.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "conformance/cnn_layer/cnn_layer_case.h"

namespace tessera::conformance {

struct LayerChannels {
  std::int64_t input;
  std::int64_t output;
};
struct LayerSize {
  std::int64_t height;
  std::int64_t width;
};

[[nodiscard]] inline CnnLayer cnn_layer_of(DataType type, const LayerChannels& channels, const LayerSize& size,
                                           std::int64_t filter, std::int64_t pool_size = 1) {
  return {.input_channels = channels.input,
          .output_channels = channels.output,
          .height = size.height,
          .width = size.width,
          .filter_height = filter,
          .filter_width = filter,
          .pool_size = pool_size,
          .type = type};
}

/// add_with_fast() adds a problem once as it is and once with Accuracy::fast, under which variants with a large error
/// factor take it too.
class CnnLayerCaseList {
 public:
  explicit CnnLayerCaseList(std::vector<std::unique_ptr<Case>>& cases) : cases_(&cases) {}
  void add(CnnLayerSpec spec) { cases_->push_back(make_cnn_layer_case(std::move(spec))); }
  void add_with_fast(CnnLayerSpec spec) {
    add(spec);
    spec.problem.accuracy = Accuracy::fast;
    add(std::move(spec));
  }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
};

}  // namespace tessera::conformance
