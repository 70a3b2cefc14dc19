// cnn_layer by Winograd's algorithm: sums up the magnitudes of every pixel's channels and finds the tiles in doubt,
// then transforms chunks of tiles, has them multiplied, and transforms back; at last pools what the tiles could not.
#include <algorithm>
#include <array>
#include <utility>

#include "opencl_embedded.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm.h"
#include "ops/cnn_layer/cnn_layer_winograd.h"

namespace tessera::opencl {

namespace {

/// Of a group of several work-items that sums up magnitudes: those beside each other, which take different pixels; and
/// how many there are at most. In layers of many channels and few pixels a work-item's channels are what takes time.
constexpr std::int64_t kPixelsOfGroup = 32, kMostItems = 512;

NdRange groups_of(std::int64_t groups, std::int64_t items) {
  return {1, {static_cast<std::size_t>(groups * items), 1, 1}, {static_cast<std::size_t>(items), 1, 1}};
}

class CnnLayerWinograd final : public backend::Kernel {
 public:
  CnnLayerWinograd(const CnnLayerWinogradPlan& plan, const OpenclDevice& device, CnnLayerWinogradSteps steps)
      : plan_(plan), steps_(std::move(steps)) {
    make_weights(device);
    make_magnitudes(device);
    make_output(device);
    if (!plan_.is_direct) make_finish(device);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return plan_.workspace_bytes; }
  [[nodiscard]] std::size_t prepared_bytes() const override { return plan_.prepared_bytes; }

  void prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
               const backend::Slice& workspace) override {
    auto& opencl = static_cast<OpenclQueue&>(queue);
    const std::array operands{weights, prepared};
    enqueue(weights_, opencl, operands, workspace, {}, Stage::launch);
    if (steps_.preparation) enqueue(*steps_.preparation, opencl, operands, workspace, 0, Stage::rest);
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    auto& opencl = static_cast<OpenclQueue&>(queue);
    Stage stage = Stage::launch;
    const auto run = [&](const OperatorLaunch& launch, std::optional<cl_long> number) {
      enqueue(launch, opencl, operands, workspace, number, stage);
      stage = Stage::rest;
    };
    for (std::int64_t pass = 0; pass < plan_.passes; ++pass) {
      const cl_long first = pass * plan_.scalars.chunks;
      run(magnitudes_, first);
      if (!steps_.transform_tells_doubts) run(doubts_, first);
      for (cl_long chunk = first; chunk < first + plan_.scalars.chunks; ++chunk) {
        run(steps_.transform, chunk);
        run(steps_.multiply, {});
        run(output_, chunk);
      }
      if (!plan_.is_direct) run(finish_[static_cast<std::size_t>(pass)], {});
    }
  }

 private:
  [[nodiscard]] MemoryArgument plain_weights(std::size_t place) const {
    return {.place = place,
            .type = plan_.problem.type,
            .first_element = plan_.plain_weights_at / size_bytes(plan_.problem.type)};
  }

  void make_weights(const OpenclDevice& device) {
    constexpr std::size_t kRaw = 0, kPrepared = 1;
    const DataType type = plan_.problem.type;
    weights_.kernel = device.kernel(plan_.program("cnn_layer_winograd_weights", embedded::cnn_layer_winograd_weights));
    weights_.range = line_of(*weights_.kernel, static_cast<std::uint64_t>(plan_.problem.input_channels *
                                                                          plan_.scalars.panel * plan_.scalars.panels));
    weights_.memory = {{.place = kRaw, .type = type},
                       steps_.preparation ? plan_.in_workspace(0) : MemoryArgument{.place = kPrepared, .type = type},
                       plain_weights(kPrepared)};
    weights_.set_structs(cnn_layer_shape(plan_.problem), plan_.scalars);
  }

  /// Magnitudes, and the doubts that follow from them if the transform does not tell those.
  void make_magnitudes(const OpenclDevice& device) {
    CnnLayerWinogradPlan of_group = plan_;
    CnnLayerWinogradForm& form = of_group.form;
    if (form.items > 1) {
      form.items = std::min<std::int64_t>(kMostItems, static_cast<std::int64_t>(device.facts().info.max_group_size));
    }
    const std::int64_t slices = form.items % kPixelsOfGroup == 0 ? form.items / kPixelsOfGroup : 1;
    const auto& program = device.programs().build_once(of_group.program(
        "cnn_layer_winograd_doubts", embedded::cnn_layer_winograd_doubts, " -DSLICES=" + std::to_string(slices)));
    const CnnLayerShape shape = cnn_layer_shape(plan_.problem);
    const std::int64_t runs = plan_.scalars.images * ceil_div(shape.height * shape.width, form.width);
    magnitudes_.kernel =
        std::make_unique<CompiledKernel>(device.context(), program.get(), "cnn_layer_winograd_magnitudes");
    magnitudes_.range = groups_of(ceil_div(runs, form.items / slices), form.items);
    magnitudes_.memory = {{.place = kCnnInput, .type = plan_.problem.type}, CnnLayerWinogradPlan::workspace()};
    magnitudes_.set_structs(shape, plan_.scalars);

    if (steps_.transform_tells_doubts) return;
    doubts_.kernel = std::make_unique<CompiledKernel>(device.context(), program.get(), "cnn_layer_winograd_doubts");
    doubts_.range = line_of(*doubts_.kernel, static_cast<std::uint64_t>(plan_.scalars.chunks * plan_.scalars.chunk));
    doubts_.memory = {CnnLayerWinogradPlan::workspace()};
    doubts_.set_structs(shape, plan_.scalars);
  }

  void make_output(const OpenclDevice& device) {
    constexpr std::int64_t kBlockTiles = 8, kBlockOutputs = 16;  // cnn_layer_winograd_output.cl
    const CnnLayerWinogradForm& form = plan_.form;
    const DataType type = plan_.problem.type;
    output_.kernel = device.kernel(plan_.program("cnn_layer_winograd_output", embedded::cnn_layer_winograd_output,
                                                 form.in_blocks ? " -DBLOCKS=1" : " -DBLOCKS=0"));
    const std::int64_t tiles = form.in_blocks ? kBlockTiles : form.items * form.width;
    const std::int64_t channels = form.channels_of_group * (form.in_blocks ? kBlockOutputs : 1);
    output_.range =
        groups_of(ceil_div(plan_.scalars.chunk, tiles) * ceil_div(plan_.problem.output_channels, channels), form.items);
    output_.memory = {CnnLayerWinogradPlan::workspace(),
                      {.place = kCnnInput, .type = type},
                      plain_weights(kCnnWeights),
                      {.place = kCnnBias, .type = type},
                      plan_.is_direct ? MemoryArgument{.place = kCnnOutput, .type = type} : plan_.in_workspace(0)};
    output_.set_structs(cnn_layer_shape(plan_.problem), plan_.scalars);
  }

  void make_finish(const OpenclDevice& device) {
    const ProductPlan whole(plan_.problem, 1, 1);
    for (std::int64_t pass = 0; pass < plan_.passes; ++pass) {
      const std::int64_t first = pass * plan_.scalars.images;
      CnnLayer images = plan_.problem;
      images.batch = std::min<std::int64_t>(plan_.scalars.images, images.batch - first);
      finish_.push_back(finish_launch(images, device, whole, first, 0));
    }
  }

  CnnLayerWinogradPlan plan_;
  CnnLayerWinogradSteps steps_;
  OperatorLaunch weights_;
  OperatorLaunch magnitudes_;
  OperatorLaunch doubts_;
  OperatorLaunch output_;
  std::vector<OperatorLaunch> finish_;  ///< one for each pass
};

}  // namespace

std::unique_ptr<backend::Kernel> make_cnn_layer_winograd(const CnnLayerWinogradPlan& plan, const OpenclDevice& device,
                                                         CnnLayerWinogradSteps steps) {
  return std::make_unique<CnnLayerWinograd>(plan, device, std::move(steps));
}

}  // namespace tessera::opencl
