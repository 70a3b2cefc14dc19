// Lists the variants of gemm, chooses their kernels and launches them. A new variant is a .cu file and a row below.
#include "ops/gemm/gemm_variants.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_embedded.h"
#include "cuda_kernel.h"
#include "ops/gemm/gemm_arguments.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

/// A group's share of C and the threads that compute it.
struct Tile {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  unsigned threads_x = 0;
  unsigned threads_y = 0;
};

template <class T>
GemmArguments<T> arguments_for(const Gemm& problem) {
  GemmArguments<T> arguments{};
  arguments.m = problem.m;
  arguments.n = problem.n;
  arguments.k = problem.k;
  arguments.lda = problem.lda;
  arguments.ldb = problem.ldb;
  arguments.ldc = problem.ldc;
  arguments.batch = problem.batch;
  arguments.stride_a = problem.stride_a;
  arguments.stride_b = problem.stride_b;
  arguments.stride_c = problem.stride_c;
  arguments.alpha = static_cast<T>(problem.alpha);
  arguments.beta = static_cast<T>(problem.beta);
  arguments.transpose_a = problem.transpose_a;
  arguments.transpose_b = problem.transpose_b;
  if (arguments.alpha == T(0) || arguments.k == 0) {
    arguments.alpha = 0;  // whatever it was: an empty sum is 0, not 0 times infinity
    arguments.k = 0;
  }
  return arguments;
}

/// One group for each tile; the kernels loop where that is more than the card allows.
LaunchGrid grid_for(const Gemm& problem, const Tile& tile, const DeviceLimits& card) {
  const auto groups = [&](std::int64_t extent, std::int64_t step, int axis) {
    const std::uint64_t wanted = static_cast<std::uint64_t>(extent / step + (extent % step != 0 ? 1 : 0));
    return static_cast<unsigned>(std::min<std::uint64_t>(wanted, card.groups[axis]));
  };
  LaunchGrid grid;
  grid.groups = {groups(problem.n, tile.columns, 0), groups(problem.m, tile.rows, 1), groups(problem.batch, 1, 2)};
  grid.group_size = {tile.threads_x, tile.threads_y, 1};
  return grid;
}

template <class T>
class GemmKernel final : public CudaKernel {
 public:
  GemmKernel(const CudaDevice& device, const Gemm& problem, const Image& image, const std::string& function,
             const Tile& tile)
      : CudaKernel(device.context(), image, function, grid_for(problem, tile, device.context()->limits())),
        arguments_(arguments_for<T>(problem)) {}

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& /*workspace*/) override {
    if (arguments_.m == 0 || arguments_.n == 0 || arguments_.batch == 0) return;
    GemmArguments<T> arguments = arguments_;  // a kernel may be launched on several queues at once
    arguments.a = pointer_to<const T>(operands[0]);
    arguments.b = pointer_to<const T>(operands[1]);
    arguments.c = pointer_to<T>(operands[2]);
    enqueue(queue, arguments);
  }

 private:
  GemmArguments<T> arguments_;
};

std::unique_ptr<backend::Kernel> make(const Gemm& problem, const backend::Device& device, const Image& image,
                                      const std::string& function, const Tile& tile) {
  const auto& card = static_cast<const CudaDevice&>(device);
  if (problem.type == DataType::float64) {
    return std::make_unique<GemmKernel<double>>(card, problem, image, function, tile);
  }
  return std::make_unique<GemmKernel<float>>(card, problem, image, function, tile);
}

std::unique_ptr<backend::Kernel> make_naive(const Gemm& problem, backend::Device& device, const Tuning&) {
  constexpr Tile kTile{kGemmNaiveRows, kGemmNaiveColumns, kGemmNaiveColumns, kGemmNaiveRows};
  return make(problem, device, embedded::gemm_naive, sentence("tessera_gemm_naive_", to_string(problem.type)), kTile);
}

std::vector<Tunable> tiled_tunables(const Gemm&, const backend::Device&) {
  // Tiles of 32 read A and B least often. `tessera bench gemm --study` measures all of them.
  return {
      {"tile", "rows and columns of C that one group computes, and the depth of a step along k", {4, 8, 16, 32}, 32}};
}

/// A kernel of an image that has one for each type, orientation and size of a square tile.
std::unique_ptr<backend::Kernel> make_square(const Gemm& problem, backend::Device& device, const Tuning& tuning,
                                             const Image& image) {
  const std::int64_t size = tuning.at("tile");
  const auto threads = static_cast<unsigned>(size);
  return make(problem, device, image,
              sentence("tessera_", image.name, "_", to_string(problem.type), "_", problem.transpose_a ? "t" : "n",
                       problem.transpose_b ? "t" : "n", "_", size),
              {size, size, threads, threads});
}

std::unique_ptr<backend::Kernel> make_tiled(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  return make_square(problem, device, tuning, embedded::gemm_tiled);
}

std::vector<Tunable> coalesced_a_tunables(const Gemm&, const backend::Device&) {
  return {{"tile", "rows and columns of C that one group computes, and steps of A that it holds", {4, 8, 16, 32}, 32}};
}

std::unique_ptr<backend::Kernel> make_coalesced_a(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  return make_square(problem, device, tuning, embedded::gemm_coalesced_a);
}

}  // namespace

Verdict check_gemm_type(const Gemm& problem, const backend::Device&) {
  if (problem.type == DataType::float32 || problem.type == DataType::float64) return Verdict::yes();
  return Verdict::no(sentence("type of gemm is ", to_string(problem.type), ", but must be float32 or float64"));
}

backend::VariantList<Gemm> gemm_variants() {
  return {
      gemm_register(),
      {"tiled", "square tiles of A and B in shared memory, one element of C a thread", check_gemm_type, tiled_tunables,
       make_tiled},
      {"coalesced_a", "square tiles of A alone in shared memory, one element of C a thread", check_gemm_type,
       coalesced_a_tunables, make_coalesced_a},
      gemm_vendor_cublas(),
      {"naive", "one thread an element of C, from device memory", check_gemm_type, nullptr, make_naive},
  };
}

}  // namespace tessera::cuda
