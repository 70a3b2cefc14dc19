// The cases of cnn_layer's study: the layer of a published study (256 to 256 channels, 5 x 5, 228 x 228, 2 x 2 pool),
// and before it, in ascending work, layers of the same kind that plain loops and processors get through in the time
// that a study has. Tuning values are tried on the smallest and on the study's own. `sequential` has a part of its
// own: a small layer, which foretells how long the study's takes.
#include "conformance/cnn_layer/cnn_layer_problems.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "conformance/cnn_layer/cnn_layer_case.h"

namespace tessera::conformance {

namespace {

void add_case(std::vector<std::unique_ptr<Case>>& cases, std::string_view part, std::int64_t channels,
              std::int64_t side, Purpose purpose) {
  const CnnLayer problem{.input_channels = channels,
                         .output_channels = channels,
                         .height = side,
                         .width = side,
                         .filter_height = 5,
                         .filter_width = 5,
                         .pool_size = 2};
  CnnLayerSpec spec{.problem = problem, .purpose = purpose, .part = part};
  spec.every_tuning = part == kCnnLayerStudyFindings;
  spec.note = std::string(part) + (purpose == Purpose::quick_study ? "_study_quick" : "_study");
  cases.push_back(make_cnn_layer_case(std::move(spec)));
}

}  // namespace

void add_cnn_layer_study(std::vector<std::unique_ptr<Case>>& cases) {
  constexpr Purpose kStudy = Purpose::study;
  add_case(cases, kCnnLayerStudyLayers, 32, 116, kStudy);
  add_case(cases, kCnnLayerStudyLayers, 128, 116, kStudy);
  add_case(cases, kCnnLayerStudyLayers, 256, 228, kStudy);
  add_case(cases, kCnnLayerStudyFindings, 32, 116, kStudy);
  add_case(cases, kCnnLayerStudyFindings, 256, 228, kStudy);
  add_case(cases, kCnnLayerStudySequential, 32, 116, kStudy);
  add_case(cases, kCnnLayerStudySequential, 256, 228, kStudy);
  constexpr Purpose kQuick = Purpose::quick_study;
  add_case(cases, kCnnLayerStudyLayers, 3, 12, kQuick);
  add_case(cases, kCnnLayerStudyLayers, 8, 19, kQuick);
  add_case(cases, kCnnLayerStudyFindings, 8, 19, kQuick);
  add_case(cases, kCnnLayerStudySequential, 3, 12, kQuick);
  add_case(cases, kCnnLayerStudySequential, 8, 19, kQuick);
}

}  // namespace tessera::conformance
