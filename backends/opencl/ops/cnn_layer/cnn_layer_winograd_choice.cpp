// When Winograd's algorithm is worth its transforms: numbers that were measured.
#include <cstdint>

#include "backend/sentence.h"
#include "mathematics/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_winograd.h"

namespace tessera::opencl {

backend::Verdict cnn_layer_winograd_pays(const CnnLayer& problem, const OpenclDevice& /*device*/,
                                         std::optional<double> of_sums) {
  using backend::sentence;
  using backend::Verdict;
  /// Five launches take their time however little they do.
  constexpr double kLeastProducts = 300e6;
  const bool is_wide = mathematics::cnn_layer_winograd_tiles(problem, of_sums).front() == 4;
  const std::int64_t enough = problem.filter_height == 3 ? 20 : is_wide ? 11 : 34;
  const std::int64_t c = problem.input_channels;
  const std::int64_t o = problem.output_channels;
  const double products = static_cast<double>(problem.batch) * static_cast<double>(problem.convolved_height()) *
                          static_cast<double>(problem.convolved_width()) * static_cast<double>(c) *
                          static_cast<double>(o) * static_cast<double>(problem.filter_height * problem.filter_width);
  if (products < kLeastProducts) {
    return Verdict::no(
        sentence("cnn_layer has ", products, " products, but winograd gains from ", kLeastProducts, " on"));
  }
  if (c * o >= enough * (c + o)) return Verdict::yes();
  return Verdict::no(sentence("with ", c, " input_channels and ", o,
                              " output_channels of cnn_layer the transforms of winograd cost more than they save"));
}

}  // namespace tessera::opencl
