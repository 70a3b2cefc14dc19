// The variant "shallow" of gemm: products with sums so short that writing C is most of the work. How a group works:
// gemm_shallow.cu.
#include "ops/gemm/gemm_shallow.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_embedded.h"
#include "cuda_queue.h"
#include "mathematics/division.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_expected.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::ceil_div;

template <class T>
class GemmShallowKernel final : public backend::Kernel {
 public:
  GemmShallowKernel(std::shared_ptr<Context> context, const Gemm& problem, const GemmShallowShape& shape)
      : context_(std::move(context)),
        arguments_{.gemm = gemm_arguments<T>(mathematics::gemm_as_computed(problem)),
                   .tiles_n = static_cast<unsigned>(gemm_shallow_tiles_n(problem, shape)),
                   .shifts = gemm_shallow_shifts(problem, shape)} {
    function_ = context_->function(embedded::gemm_shallow,
                                   sentence("tessera_gemm_shallow_", to_string(problem.type), "_", shape.rows, "_",
                                            shape.runs, "_", shape.across, "_", shape.threads));
    grid_.groups[0] = static_cast<unsigned>(gemm_shallow_tiles(problem, shape));
    grid_.group_size[0] = static_cast<unsigned>(shape.threads);
    grid_.overlaps = context_->limits().compute_capability_major >= 9;
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& /*workspace*/) override {
    const GemmArguments<T>& gemm = arguments_.gemm;
    if (gemm.m == 0 || gemm.n == 0) return;
    const auto of_launch = static_cast<std::int64_t>(context_->limits().groups[2]);
    for (std::int64_t first = 0; first < gemm.batch; first += of_launch) {
      GemmShallowArguments<T> arguments = arguments_;  // a kernel may be launched on several queues at once
      arguments.gemm.a = pointer_to<const T>(operands[0]) + first * gemm.stride_a;
      arguments.gemm.b = pointer_to<const T>(operands[1]) + first * gemm.stride_b;
      arguments.gemm.c = pointer_to<T>(operands[2]) + first * gemm.stride_c;
      LaunchGrid grid = grid_;
      grid.groups[2] = static_cast<unsigned>(std::min(gemm.batch - first, of_launch));
      void* parameters[] = {&arguments};
      static_cast<CudaQueue&>(queue).launch(function_, grid, parameters);
    }
  }

 private:
  std::shared_ptr<Context> context_;   // the function lives as long as its context
  GemmShallowArguments<T> arguments_;  ///< all but the addresses
  LaunchGrid grid_;
  CUfunction function_ = nullptr;
};

Verdict check(const Gemm& problem, const backend::Device& device) {
  if (Verdict verdict = check_gemm_type(problem, device); !verdict) return verdict;
  if (problem.k > kShallowMost) {
    return Verdict::no(sentence("gemm's k is ", problem.k, ", but shallow takes up to ", kShallowMost));
  }
  std::int64_t tiles = 0;
  for (const GemmShallowShape& shape : kGemmShallowShapes) tiles = std::max(tiles, gemm_shallow_tiles(problem, shape));
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  if (static_cast<std::uint64_t>(tiles) <= limit) return Verdict::yes();
  return Verdict::no(sentence("C takes up to ", tiles, " groups, but a launch takes ", limit, " at most"));
}

/// The values that the compiled shapes have in one direction, ascending.
std::vector<std::int64_t> extents(int (GemmShallowShape::*of)() const) {
  std::set<std::int64_t> values;
  for (const GemmShallowShape& shape : kGemmShallowShapes) values.insert((shape.*of)());
  return {values.begin(), values.end()};
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  const GemmShallowShape& preferred = choose_gemm_shallow(problem, native(device).context()->limits());
  Tunable tile_m{"tile_m", "rows of C that one group computes", extents(&GemmShallowShape::tile_m), preferred.tile_m()};
  Tunable tile_n{"tile_n", "columns of C that it computes", extents(&GemmShallowShape::tile_n), preferred.tile_n(),
                 "tile_m"};
  for (const GemmShallowShape& shape : kGemmShallowShapes) tile_n.pairs.emplace_back(shape.tile_m(), shape.tile_n());
  return {std::move(tile_m), std::move(tile_n)};
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  const std::shared_ptr<Context>& context = native(device).context();
  const GemmShallowShape& shape =
      *std::find_if(std::begin(kGemmShallowShapes), std::end(kGemmShallowShapes), [&](const GemmShallowShape& one) {
        return one.tile_m() == tuning.at("tile_m") && one.tile_n() == tuning.at("tile_n");
      });
  if (problem.type == DataType::float64) return std::make_unique<GemmShallowKernel<double>>(context, problem, shape);
  return std::make_unique<GemmShallowKernel<float>>(context, problem, shape);
}

Verdict pays(const Gemm& problem, const backend::Device& device) {
  return gemm_is_fastest("shallow", problem, native(device).context()->limits());
}

}  // namespace

backend::Variant<Gemm> gemm_shallow() {
  return {
      .name = "shallow",
      .summary = "sums up to 64 long: C written in whole sectors, wherever its rows begin",
      .check = check,
      .tunables = tunables,
      .make = make,
      .pays = pays,
  };
}

}  // namespace tessera::cuda
