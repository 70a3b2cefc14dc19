// cnn_layer by Winograd's algorithm on OpenCL: how a layer is cut into passes of images and chunks of tiles, what lies
// where in its memory, and the kernel around whatever multiplies. Two variants stand on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/ops/gemm.h>

#include "ops/cnn_layer/cnn_layer_launch.h"

namespace tessera::opencl {

/// Winograd of cnn_layer_winograd_tiles.cl.
struct CnnLayerWinogradScalars {
  cl_long images, chunks, chunk;
  cl_long image_tiles, row_tiles;
  cl_long channels_of_group;
  cl_long leading, input_matrix, product_matrix;
  cl_long panel, panels;
  cl_long target_image, target_channel, target_pixel, target_height, target_width;
  cl_long magnitudes_at, doubts_at, shifts_at, transformed_at, products_at;  ///< bytes, in the workspace
  cl_float limit, doubt_of_largest;
  cl_int pooled, is_part, growth_power, unused;
};
static_assert(sizeof(CnnLayerWinogradScalars) == 192, "cnn_layer_winograd_tiles.cl says so too");

/// What the two kinds of products differ in, for the transforms around them.
struct CnnLayerWinogradForm {
  std::int64_t width = 1;                          ///< tiles of a work-item of the transforms
  std::int64_t items = 1;                          ///< of their groups
  std::int64_t channels_of_group = 1;              ///< that a group transforms
  std::int64_t tiles_unit = 1;                     ///< a chunk's matrices have a multiple of so many tiles
  std::int64_t channels_unit = 1;                  ///< ... and of so many input channels
  std::int64_t outputs_unit = 1;                   ///< ... and their products of so many output channels
  std::int64_t panel = 1;                          ///< output channels of a panel of transformed weights
  std::int64_t note_bytes = 0;                     ///< of an output channel of transformed weights, for each point
  bool in_blocks = false;                          ///< products lie as cnn_layer_winograd_split_products.cl leaves them
  std::int64_t chunk_bytes = kMostWorkspaceBytes;  ///< that a chunk's matrices may take
  std::optional<double> of_sums = {};              ///< roundings, as mathematics/cnn_layer_winograd.h takes them
};

/// The sizes of a layer with tiles of `outputs` x `outputs` sums, `wanted_chunk` of which go through at once.
struct CnnLayerWinogradPlan {
  CnnLayerWinogradPlan(const CnnLayer& problem, const CnnLayerWinogradForm& form, std::int64_t outputs,
                       std::int64_t wanted_chunk);

  CnnLayer problem;
  CnnLayerWinogradForm form;
  std::int64_t outputs;                          ///< of a tile, in both directions
  std::int64_t points;                           ///< of the transforms, of both directions together
  bool is_direct;                                ///< the tiles' kernel writes the result itself
  std::int64_t image_sums;                       ///< sums that are left for the pool; 0 if is_direct
  std::int64_t padded_channels, padded_outputs;  ///< of transformed pixels and of products
  std::int64_t passes = 0;
  CnnLayerWinogradScalars scalars{};

  // In bytes. The workspace begins with the sums, and behind them has what `scalars` tells; while weights are prepared,
  // it may hold them instead.
  std::size_t workspace_bytes = 0;
  std::size_t plain_weights_at = 0, prepared_bytes = 0;

  /// As elements of the layer's type.
  [[nodiscard]] MemoryArgument in_workspace(std::int64_t at) const {
    return {.place = MemoryArgument::kWorkspace,
            .type = problem.type,
            .first_element = static_cast<std::uint64_t>(at) / size_bytes(problem.type)};
  }
  /// All of it, as bytes.
  [[nodiscard]] static MemoryArgument workspace() {
    return {.place = MemoryArgument::kWorkspace, .type = DataType::uint8};
  }
  /// Of transformed weights, with the channels that are filled in.
  [[nodiscard]] std::int64_t weight_elements() const {
    return points * padded_channels * scalars.panel * scalars.panels;
  }
  /// The products of a chunk: weights, output channels x input channels, times pixels, input channels x tiles.
  [[nodiscard]] Gemm product() const;
  /// A program with options for the tiles and, as its text names them, the matrices' numbers.
  [[nodiscard]] ProgramSource program(std::string name, std::string_view text,
                                      const std::string& more_options = {}) const;
};

/// Yes if the algorithm takes the problem, and the device what it needs.
[[nodiscard]] backend::Verdict check_cnn_layer_winograd(const CnnLayer& problem, const OpenclDevice& device,
                                                        const CnnLayerWinogradForm& form);
/// The tunables tile and chunk.
[[nodiscard]] std::vector<Tunable> cnn_layer_winograd_tunables(const CnnLayer& problem,
                                                               const CnnLayerWinogradForm& form);

/// What a chunk's matrices may take on a GPU.
[[nodiscard]] std::int64_t cnn_layer_winograd_chunk_bytes(const DeviceFacts& facts) noexcept;

/// Do the products that are saved outweigh the transforms?
[[nodiscard]] backend::Verdict cnn_layer_winograd_pays(const CnnLayer& problem, const OpenclDevice& device,
                                                       const CnnLayerWinogradForm& form);

/// What is done with a chunk of tiles before they are transformed back, and with transformed weights.
struct CnnLayerWinogradSteps {
  /// Of weights that were transformed into the workspace; without any, they are transformed into their place.
  std::optional<OperatorLaunch> preparation = {};
  OperatorLaunch transform;  ///< is told the number of its chunk
  OperatorLaunch multiply;
  bool transform_tells_doubts = false;  ///< or a launch of its own does
};
[[nodiscard]] std::unique_ptr<backend::Kernel> make_cnn_layer_winograd(const CnnLayerWinogradPlan& plan,
                                                                       const OpenclDevice& device,
                                                                       CnnLayerWinogradSteps steps);

}  // namespace tessera::opencl
