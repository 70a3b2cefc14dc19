// How the rows of the three versions that follow a published study are spread over threads: those of the device, or new
// ones for each run, a tunable.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/kernel.h>

#include "backend/backend.h"
#include "ops/conv2d/conv2d_operands.h"

namespace tessera::cpu_tbb {

/// The tunable `new_threads`.
[[nodiscard]] inline std::vector<Tunable> conv2d_row_tunables(const Conv2d&, const backend::Device&) {
  return {{"new_threads", "1: threads are created for each run, 0: the device's own take the rows", {0, 1}, 0}};
}

/// The kernel that calls `rows(images, weights, first, last)` for ranges of output rows.
template <class Rows>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_conv2d_rows(const Conv2d& problem, const Tuning& tuning,
                                                                Rows rows) {
  const bool new_threads = tuning.at("new_threads") != 0;
  return make_conv2d_kernel(problem, [new_threads, rows = std::move(rows)]<class Pixel>(
                                         Executor& executor, const Conv2dImages<Pixel>& images) {
    const auto weights = conv2d_weights<Conv2dSum<Pixel>>(images.problem.filter);
    const auto body = [&](std::int64_t first, std::int64_t last) { rows(images, weights.data(), first, last); };
    if (new_threads) {
      executor.with_new_threads()->parallel_for(images.output_rows(), body);
    } else {
      executor.parallel_for(images.output_rows(), body);
    }
  });
}

}  // namespace tessera::cpu_tbb
