// conv2d, marching_bands and separable_bands: for processors; one work-item alone marches along the bands of a wide
// strip. See conv2d_marching_bands.cl.
#include <memory>

#include "backend/sentence.h"
#include "mathematics/conv2d_filter.h"
#include "opencl_embedded.h"
#include "ops/conv2d/conv2d_march.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// Columns of a strip. Wide strips use whole pages of a large image: 3 x 3 on 4096 x 4096 in float takes 6.2 ms so and
/// 9.5 ms with strips of 256 columns (PoCL on two cores of a Xeon). Wider ones gain little.
constexpr std::int64_t kInBands = 1024;

Verdict pays(const Conv2d& /*problem*/, const backend::Device& device) {
  if (!is_gpu(device)) return Verdict::yes();
  return Verdict::no(sentence("'", native(device).facts().info.name, "' is a GPU, and bands are for processors"));
}

/// March along bands, with as many sums as the registers hold beside the vectors that are shifted. AVX-512 has 32
/// registers, other instruction sets 16.
MarchAlone along_bands(const Conv2d& problem, const DeviceFacts& facts) {
  const bool has_avx512 = facts.vector_bytes == 16 * sizeof(cl_float);
  const bool is_exact = problem.type != DataType::float32 && mathematics::is_exact_in_float32(problem);
  return {.name = "conv2d_marching_bands",
          .text = embedded::conv2d_marching_bands,
          .options = sentence(" -DSTRIP=", kInBands, " -DCOLUMNS=", has_avx512 ? 16 : 8, " -DROWS=", has_avx512 ? 8 : 4,
                              " -DEXACT_INTEGERS=", is_exact ? 1 : 0),
          .sums = is_exact ? Conv2dSums::in_float : Conv2dSums::output_type};
}

struct InBands {
  static Verdict check(const Conv2d& problem, const backend::Device& device, bool is_separable) {
    const DeviceFacts& facts = native(device).facts();
    if (!facts.is_processor) {
      return Verdict::no(sentence("'", facts.info.name, "' is no processor, and bands are for processors alone"));
    }
    return check_march(problem, device, is_separable);
  }

  static std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device, bool is_separable) {
    return {rows_per_run(problem, device, kInBands, is_separable)};
  }

  static std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning,
                                               bool is_separable) {
    const OpenclDevice& opencl = native(device);
    return make_march_alone(along_bands(problem, opencl.facts()), problem, opencl,
                            MarchWeights::of(problem, is_separable), kInBands, tuning.at("rows_per_run"));
  }
};

}  // namespace

backend::Variant<Conv2d> conv2d_marching_bands() {
  return march_variant<InBands, false>(
      "marching_bands",
      "a work-item alone marches along bands of a wide strip, from left to right; filters of 3, 5 and 7", pays);
}

backend::Variant<Conv2d> conv2d_separable_bands() {
  return march_variant<InBands, true>("separable_bands", "marching_bands for filters that are a column times a row",
                                      pays);
}

}  // namespace tessera::opencl
