// The variant "naive" of conv2d: a block's shape, and which way neighbouring threads go.
#include <algorithm>
#include <vector>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/conv2d/conv2d_operands.h"
#include "ops/conv2d/conv2d_variants.h"
#include "ops/plain_block.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

Verdict check(const Conv2d& problem, const backend::Device& device) {
  return check_columns(problem, device, kPlainBlock.columns);
}

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device) {
  std::vector<Tunable> all = plain_block_tunables({8, 16, 32}, "the output", [&](const PlainBlock& block) -> bool {
    return static_cast<bool>(check_columns(problem, device, block.columns));
  });
  all.push_back(
      {"down_columns", "1: neighbouring threads have pixels below each other, 0: beside each other", {0, 1}, 0});
  return all;
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const bool down = tuning.at("down_columns") != 0;
  const PlainBlock block = plain_block(tuning);
  const bool is_preferred = block.columns == kPlainBlock.columns && block.rows == kPlainBlock.rows;
  return make_conv2d_kernel(problem, device, embedded::conv2d_naive,
                            sentence("tessera_conv2d_naive_", to_string(problem.type),
                                     down           ? "_down"
                                     : is_preferred ? ""
                                                    : "_across"),
                            {.rows = block.rows, .columns = block.columns, .threads_go_down = down});
}

}  // namespace

backend::Variant<Conv2d> conv2d_naive() {
  return {
      .name = "naive",
      .summary = "one thread a pixel, from device memory",
      .check = check,
      .tunables = tunables,
      .make = make,
  };
}

}  // namespace tessera::cuda
