// The variant "register" of gemm: binds a problem to one of the compiled shapes and launches it, with a second kernel
// where k is split over more groups than can reach each other.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
#include "cuda_queue.h"
#include "mathematics/division.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_add.h"
#include "ops/gemm/gemm_register_arguments.h"
#include "ops/gemm/gemm_register_choice.h"
#include "ops/gemm/gemm_register_shapes.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using mathematics::ceil_div;

/// Tiles along m that are visited before the next along n: 16 x 16 tiles in flight share their rows and columns.
constexpr std::int64_t kBand = 16;

/// Blocks of one thread block cluster and kernels that overlap came with sm_90.
bool has_clusters(const DeviceLimits& card) {
  return card.compute_capability_major >= 9;
}

/// Does an address, and whatever lies so many elements from it, begin at a multiple of `width` elements?
template <class T>
bool begins_at(std::int64_t width, const T* address, std::initializer_list<std::int64_t> elements) {
  return reinterpret_cast<std::uintptr_t>(address) % (static_cast<std::uintptr_t>(width) * sizeof(T)) == 0 &&
         std::all_of(elements.begin(), elements.end(), [&](std::int64_t count) { return count % width == 0; });
}

/// Are all these multiples of 16 bytes?
template <class T>
bool aligned(const T* address, std::initializer_list<std::int64_t> elements) {
  return begins_at(16 / sizeof(T), address, elements);
}

/// Elements of one copy of an operand whose rows and parts lie so far from each other.
template <class T>
std::int8_t copied(const T* address, std::initializer_list<std::int64_t> elements) {
  if (aligned(address, elements)) return 16 / sizeof(T);
  return begins_at(2, address, elements) ? 2 : 1;
}

template <class T>
class GemmRegisterKernel final : public backend::Kernel {
 public:
  GemmRegisterKernel(std::shared_ptr<Context> context, const Gemm& problem, const GemmRegisterImage& image,
                     std::int64_t split_k)
      : context_(std::move(context)),
        problem_(mathematics::gemm_as_computed(problem)),
        shape_(image.shape),
        splits_(split_k) {
    const DeviceLimits& card = context_->limits();
    tiles_m_ = ceil_div(problem_.m, shape_.tile_m);
    tiles_n_ = ceil_div(problem_.n, shape_.tile_n);
    cluster_ = splits_ == 2 && has_clusters(card);

    const bool asynchronous = card.compute_capability_major >= 8;
    bytes_ = shared_bytes(shape_, problem_.transpose_a, problem_.transpose_b, sizeof(T), asynchronous);
    bytes_with_c_ = shared_bytes_with_c(shape_, problem_.transpose_a, problem_.transpose_b, sizeof(T), asynchronous);
    const std::int64_t groups = tiles_m_ * tiles_n_ * splits_ * std::min(problem_.batch, batch_of_launch());
    bytes_that_spread_ = bytes_that_spread(shape_, groups, card);
    grid_.group_size[0] = static_cast<unsigned>(shape_.threads());
    grid_.cluster_y = cluster_ ? 2 : 1;
    grid_.overlaps = has_clusters(card);

    const std::string name =
        sentence("tessera_gemm_register_", to_string(problem_.type), "_", shape_.tile_m, "x", shape_.tile_n, "_",
                 problem_.transpose_a ? "t" : "n", problem_.transpose_b ? "t" : "n");
    aligned_ = load(image.image, name);
    unaligned_ = load(image.image, name + "_unaligned");
    if (has_parts()) {
      add_ = context_->function(embedded::gemm_register_add,
                                sentence("tessera_gemm_register_add_", to_string(problem_.type)));
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    if (!has_parts()) return 0;
    return static_cast<std::size_t>(splits_ * std::min(problem_.batch, batch_of_launch()) * problem_.m *
                                    gemm_part_row(problem_.n)) *
           sizeof(T);
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    if (problem_.m == 0 || problem_.n == 0) return;
    for (std::int64_t first = 0; first < problem_.batch; first += batch_of_launch()) {
      GemmRegisterArguments<T> arguments = arguments_for();
      arguments.a = pointer_to<const T>(operands[0]) + first * problem_.stride_a;
      arguments.b = pointer_to<const T>(operands[1]) + first * problem_.stride_b;
      arguments.c = pointer_to<T>(operands[2]) + first * problem_.stride_c;
      arguments.aligned_c = aligned(arguments.c, {problem_.ldc, problem_.stride_c});
      launch_products(static_cast<CudaQueue&>(queue), arguments, std::min(problem_.batch - first, batch_of_launch()),
                      pointer_to<T>(workspace));
    }
  }

 private:
  /// Are the sums of the groups along k brought together by a second kernel?
  [[nodiscard]] bool has_parts() const { return splits_ > 1 && !cluster_; }

  /// Products that one launch takes, along the grid's z.
  [[nodiscard]] std::int64_t batch_of_launch() const { return static_cast<std::int64_t>(context_->limits().groups[2]); }

  [[nodiscard]] CUfunction load(const Image& image, const std::string& name) const {
    const CUfunction function = context_->function(image, name);
    check(context_->api().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(context_->limits().shared_bytes)),
          "allowing a kernel all of the shared memory");
    return function;
  }

  /// All but the addresses.
  [[nodiscard]] GemmRegisterArguments<T> arguments_for() const {
    GemmRegisterArguments<T> arguments{};
    arguments.m = problem_.m;
    arguments.n = problem_.n;
    arguments.k = problem_.k;
    arguments.lda = problem_.lda;
    arguments.ldb = problem_.ldb;
    arguments.ldc = problem_.ldc;
    arguments.stride_a = problem_.stride_a;
    arguments.stride_b = problem_.stride_b;
    arguments.stride_c = problem_.stride_c;
    arguments.split_k = std::max<std::int64_t>(1, ceil_div(ceil_div(problem_.k, splits_), shape_.depth)) * shape_.depth;
    arguments.tiles_m = static_cast<std::int32_t>(tiles_m_);
    arguments.tiles_n = static_cast<std::int32_t>(tiles_n_);
    arguments.band = static_cast<std::int32_t>(std::min(kBand, tiles_m_));
    arguments.alpha = static_cast<T>(problem_.alpha);
    arguments.beta = static_cast<T>(problem_.beta);
    return arguments;
  }

  void launch_products(CudaQueue& queue, const GemmRegisterArguments<T>& arguments, std::int64_t batch,
                       T* workspace) const {
    LaunchGrid grid = grid_;
    grid.groups = {static_cast<unsigned>(tiles_m_ * tiles_n_), static_cast<unsigned>(splits_),
                   static_cast<unsigned>(batch)};
    GemmRegisterArguments<T> part = arguments;
    part.copied_a = copied(part.a, {problem_.lda, problem_.stride_a, problem_.transpose_a ? 0 : problem_.k});
    part.copied_b = copied(part.b, {problem_.ldb, problem_.stride_b, problem_.transpose_b ? problem_.k : 0});
    const bool in_chunks = std::min(part.copied_a, part.copied_b) == 16 / sizeof(T);
    if (has_parts()) {
      part.c = workspace;
      part.ldc = gemm_part_row(problem_.n);
      part.stride_c = problem_.m * part.ldc;
      part.split_stride = batch * part.stride_c;
      part.alpha = 1;
      part.beta = 0;
      part.aligned_c = aligned(workspace, {part.ldc});
    }
    const bool gains = sizeof(T) == 8 || !part.aligned_c;
    part.stages_c = gains && !cluster_ && bytes_with_c_ <= context_->limits().shared_bytes;
    grid.dynamic_shared_bytes =
        static_cast<unsigned>(std::max(part.stages_c ? bytes_with_c_ : bytes_, bytes_that_spread_));
    void* parameters[] = {&part};
    queue.launch(in_chunks ? aligned_ : unaligned_, grid, parameters);
    if (!has_parts()) return;

    launch_gemm_add(queue, add_,
                    GemmAddArguments<T>{.gemm = arguments,
                                        .parts = workspace,
                                        .row = gemm_part_row(problem_.n),
                                        .splits = static_cast<std::int32_t>(splits_),
                                        .batch = static_cast<std::int32_t>(batch),
                                        .slices = 1,
                                        .runs = 1},
                    context_->limits());
  }

  std::shared_ptr<Context> context_;  // the functions live as long as their context
  Gemm problem_;
  GemmRegisterShape shape_;
  std::int64_t splits_;
  std::int64_t tiles_m_ = 0;
  std::int64_t tiles_n_ = 0;
  bool cluster_ = false;
  std::size_t bytes_ = 0;  ///< of shared memory
  std::size_t bytes_with_c_ = 0;
  std::size_t bytes_that_spread_ = 0;
  LaunchGrid grid_;  ///< all but that and the groups
  CUfunction aligned_ = nullptr;
  CUfunction unaligned_ = nullptr;
  CUfunction add_ = nullptr;
};

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  const std::vector<std::int64_t> splits = gemm_register_splits(problem);
  const DeviceLimits& card = native(device).context()->limits();
  const std::span<const GemmRegisterImage> images = gemm_register_images(problem.type, card);
  const GemmRegisterChoice choice = choose_gemm_register(problem, card, splits, images);
  std::vector<Tunable> tunables =
      tile_tunables(images, choice, "rows of C that one group computes", "columns of C that it computes");
  tunables.push_back({"split_k", "groups over which k is split, each with a sum of its own", splits, choice.split_k});
  return tunables;
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  const std::shared_ptr<Context>& context = native(device).context();
  const GemmRegisterImage& image =
      image_of_tile(gemm_register_images(problem.type, context->limits()), tuning.at("tile_m"), tuning.at("tile_n"));
  if (problem.type == DataType::float64) {
    return std::make_unique<GemmRegisterKernel<double>>(context, problem, image, tuning.at("split_k"));
  }
  return std::make_unique<GemmRegisterKernel<float>>(context, problem, image, tuning.at("split_k"));
}

}  // namespace

backend::Variant<Gemm> gemm_register() {
  return {
      .name = "register",
      .summary = "tiles of C in registers, float64 by tensor cores, k split over groups where C is small",
      .check = check_gemm_type,
      .tunables = tunables,
      .make = make,
  };
}

}  // namespace tessera::cuda
