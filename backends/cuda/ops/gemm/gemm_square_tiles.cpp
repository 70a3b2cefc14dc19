// The variants "tiled" and "coalesced_a" of gemm, whose groups compute a square of C, one thread an element.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;

std::vector<Tunable> tiled_tunables(const Gemm&, const backend::Device&) {
  // Tiles of 32 read A and B least often. `tessera bench gemm --study` measures all of them.
  return {
      {"tile", "rows and columns of C that one group computes, and the depth of a step along k", {4, 8, 16, 32}, 32}};
}

/// A variant's kernel, whose image has one for each type, orientation and size of a square tile.
std::unique_ptr<backend::Kernel> make_square(const Gemm& problem, backend::Device& device, const Tuning& tuning,
                                             const Image& image, const char* variant) {
  const std::int64_t size = tuning.at("tile");
  const auto threads = static_cast<unsigned>(size);
  return make_gemm_kernel(problem, device, image,
                          sentence("tessera_gemm_", variant, "_", to_string(problem.type), "_",
                                   problem.transpose_a ? "t" : "n", problem.transpose_b ? "t" : "n", "_", size),
                          {size, size, threads, threads});
}

std::unique_ptr<backend::Kernel> make_tiled(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  return make_square(problem, device, tuning, embedded::gemm_tiled, "tiled");
}

std::vector<Tunable> coalesced_a_tunables(const Gemm&, const backend::Device&) {
  return {{"tile", "rows and columns of C that one group computes, and steps of A that it holds", {4, 8, 16, 32}, 32}};
}

std::unique_ptr<backend::Kernel> make_coalesced_a(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  return make_square(problem, device, tuning, embedded::gemm_coalesced_a, "coalesced_a");
}

}  // namespace

backend::Variant<Gemm> gemm_tiled() {
  return {
      .name = "tiled",
      .summary = "square tiles of A and B in shared memory, one element of C a thread",
      .check = check_gemm_type,
      .tunables = tiled_tunables,
      .make = make_tiled,
  };
}

backend::Variant<Gemm> gemm_coalesced_a() {
  return {
      .name = "coalesced_a",
      .summary = "square tiles of A alone in shared memory, one element of C a thread",
      .check = check_gemm_type,
      .tunables = coalesced_a_tunables,
      .make = make_coalesced_a,
  };
}

}  // namespace tessera::cuda
