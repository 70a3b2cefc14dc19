// conv2d, marching and separable: one work-item alone marches down a strip of columns. See conv2d_marching.cl.
#include <array>
#include <memory>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/conv2d/conv2d_march.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::opencl {

namespace {

constexpr std::array<std::int64_t, 2> kStrips{8, 16};

struct Alone {
  static backend::Verdict check(const Conv2d& problem, const backend::Device& device, bool is_separable) {
    return check_march(problem, device, is_separable);
  }

  static std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device, bool is_separable) {
    return {{.name = "strip",
             .meaning = "columns that a work-item marches down",
             .values = {kStrips.begin(), kStrips.end()},
             .preferred = kStrips.back()},
            rows_per_run(problem, device, kStrips.back(), is_separable)};
  }

  static std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning,
                                               bool is_separable) {
    const std::int64_t strip = tuning.at("strip");
    const MarchAlone march{.name = "conv2d_marching",
                           .text = embedded::conv2d_marching,
                           .options = backend::sentence(" -DCOLUMNS=", strip)};
    return make_march_alone(march, problem, native(device), MarchWeights::of(problem, is_separable), strip,
                            tuning.at("rows_per_run"));
  }
};

}  // namespace

backend::Variant<Conv2d> conv2d_marching() {
  return march_variant<Alone, false>(
      "marching", "a work-item alone marches down a strip, sums in registers; filters of 3, 5 and 7");
}

backend::Variant<Conv2d> conv2d_separable() {
  return march_variant<Alone, true>("separable", "marching for filters that are a column times a row");
}

}  // namespace tessera::opencl
