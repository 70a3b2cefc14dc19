// cnn_layer, winograd on GPUs: does it save more products than its transforms cost?
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <tessera/ops/cnn_layer.h>

#include "backend/sentence.h"

namespace tessera::mathematics {

/// Output channels for which implicit_gemm multiplies at least, those of its smallest tile. On an H100 it takes 74.6 us
/// from 128 channels of 112 x 112 pixels to 4 as to 16, 5 x 5, and winograd 35.6 and 37.1; through OpenCL from 47
/// channels of 155 x 491 to 2, 5 x 5, 200, and winograd_split 102.
inline constexpr std::int64_t kImplicitGemmLeastOutputs = 32;

/// Why implicit_gemm is to be taken in place of Winograd's algorithm with tiles of `outputs` rows, or "". Counted for
/// each tile: input channels times output channels times the products saved against their sum times the bytes of one
/// channel; and small layers, in which several launches one after the other take their time however little they do:
/// those of fewer than `least_products`, and so many more for each pixel of each channel, in and out, that is
/// transformed.
[[nodiscard]] inline std::string why_winograd_saves_too_little(const CnnLayer& problem, std::int64_t outputs,
                                                               double least_products, double products_of_pixel = 0) {
  const std::int64_t enough = problem.filter_height == 3 ? 20 : outputs == 4 ? 11 : 34;
  const std::int64_t c = problem.input_channels;
  const std::int64_t o = problem.output_channels;
  const std::int64_t multiplied = c * std::max(o, kImplicitGemmLeastOutputs);
  const double pixels = static_cast<double>(problem.batch) * static_cast<double>(problem.convolved_height()) *
                        static_cast<double>(problem.convolved_width());
  const double products =
      pixels * static_cast<double>(multiplied) * static_cast<double>(problem.filter_height * problem.filter_width);
  const double least = least_products + products_of_pixel * pixels * static_cast<double>(c + o);
  if (products < least) {
    return backend::sentence("implicit_gemm makes ", products, " products of cnn_layer, but winograd gains from ",
                             least, " on");
  }
  if (multiplied >= enough * (c + o)) return "";
  return backend::sentence("with ", c, " input_channels and ", o,
                           " output_channels of cnn_layer the transforms of winograd cost more than they save");
}

}  // namespace tessera::mathematics
