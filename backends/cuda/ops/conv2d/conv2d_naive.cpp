// The variant "naive" of conv2d.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/conv2d/conv2d_operands.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

Verdict check(const Conv2d& problem, const backend::Device& device) {
  return check_columns(problem, device, kConv2dNaiveColumns);
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning&) {
  return make_conv2d_kernel(problem, device, embedded::conv2d_naive,
                            sentence("tessera_conv2d_naive_", to_string(problem.type)),
                            {kConv2dNaiveRows, kConv2dNaiveColumns});
}

}  // namespace

backend::Variant<Conv2d> conv2d_naive() {
  return {
      .name = "naive",
      .summary = "one thread a pixel, from device memory",
      .check = check,
      .tunables = nullptr,
      .make = make,
  };
}

}  // namespace tessera::cuda
