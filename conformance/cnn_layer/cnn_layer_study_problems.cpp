// The cases of cnn_layer's study: the layer of a published study (256 to 256 channels, 5 x 5, 228 x 228, 2 x 2 pool),
// and before it, in ascending work, layers of the same kind that plain loops and processors get through in the time
// that a study has. Tuning values are tried on the smallest and on the study's own.
#include "conformance/cnn_layer/cnn_layer_problems.h"

#include <cstdint>
#include <string>
#include <utility>

#include "conformance/cnn_layer/cnn_layer_case.h"

namespace tessera::conformance {

namespace {

void add_case(std::vector<std::unique_ptr<Case>>& cases, std::int64_t channels, std::int64_t side, bool every_tuning,
              Purpose purpose) {
  const CnnLayer problem{.input_channels = channels,
                         .output_channels = channels,
                         .height = side,
                         .width = side,
                         .filter_height = 5,
                         .filter_width = 5,
                         .pool_size = 2};
  CnnLayerSpec spec{.problem = problem, .purpose = purpose, .every_tuning = every_tuning, .part = kCnnLayerStudyLayers};
  spec.note = purpose == Purpose::quick_study ? "study_quick" : "study";
  cases.push_back(make_cnn_layer_case(std::move(spec)));
}

}  // namespace

void add_cnn_layer_study(std::vector<std::unique_ptr<Case>>& cases) {
  add_case(cases, 32, 116, true, Purpose::study);
  add_case(cases, 128, 116, false, Purpose::study);
  add_case(cases, 256, 228, true, Purpose::study);
  add_case(cases, 3, 12, false, Purpose::quick_study);
  add_case(cases, 8, 19, true, Purpose::quick_study);
}

}  // namespace tessera::conformance
