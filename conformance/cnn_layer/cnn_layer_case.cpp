// Cases of cnn_layer: names, fields and amount of work; the operands, made once and shared by every run.
#include "conformance/cnn_layer/cnn_layer_case.h"

#include <array>
#include <utility>

#include "conformance/cnn_layer/cnn_layer_run.h"
#include "conformance/odd_sizes.h"
#include "conformance/spec_case.h"

namespace tessera::conformance {

namespace {

template <class T>
std::vector<T> make_values(std::int64_t count, Values values, std::uint64_t seed) {
  std::vector<T> made(static_cast<std::size_t>(count));
  fill_values(std::span<T>(made), values, seed);
  return made;
}

template <class T>
std::shared_ptr<const CnnLayerData<T>> make_data(const CnnLayerSpec& spec) {
  const CnnLayer& p = spec.problem;
  auto data = std::make_shared<CnnLayerData<T>>();
  data->input = make_values<T>(p.batch * p.input_channels * p.height * p.width, spec.values, 1);
  for (T& pixel : data->input) pixel *= static_cast<T>(spec.pixel_scale);
  data->weights =
      make_values<T>(p.output_channels * p.input_channels * p.filter_height * p.filter_width, spec.values, 2);
  if (p.bias) data->bias = make_values<T>(p.output_channels, spec.values, 3);
  for (const CnnLayerPlant& plant : spec.plants) {
    std::vector<T>& operand = plant.operand == 'i' ? data->input : plant.operand == 'w' ? data->weights : data->bias;
    operand.at(static_cast<std::size_t>(plant.index)) = static_cast<T>(plant.value);
  }
  data->reference = std::make_unique<CnnLayerReference<T>>(CnnLayerInputs<T>{p, data->input, data->weights, data->bias},
                                                           draw_of(spec.values, !spec.plants.empty()), 4);
  return data;
}

template <class T>
class CnnLayerCase final : public SpecCase<CnnLayerSpec> {
 public:
  explicit CnnLayerCase(CnnLayerSpec spec) : SpecCase(std::move(spec), cnn_layer_case_name) {}

  std::vector<Field> problem() const override { return cnn_layer_fields(spec().problem, spec().prepared); }
  Work work() const override { return cnn_layer_work(spec().problem); }
  std::vector<std::unique_ptr<Case>> odd_neighbours() const override {
    return odd_neighbours_of(
        spec(),
        [](CnnLayer& p) {
          return std::array{&p.height, &p.width, &p.input_channels, &p.output_channels};
        },
        make_cnn_layer_case);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    OperatorKernel<CnnLayer> kernel = device.kernel(spec().problem, options);  // first: a refusal must cost no inputs
    return std::make_unique<CnnLayerRun<T>>(device, std::move(kernel), data(), spec().misalignment, spec().prepared);
  }
  bool changes_output() const override { return spec().problem.batch > 0; }

 private:
  std::shared_ptr<const CnnLayerData<T>> data() const {
    // The expected values take long to compute, and a benchmark's case is prepared once for each variant and device.
    return data_.get(spec().purpose != Purpose::slow, [this] { return make_data<T>(spec()); });
  }

  CaseData<CnnLayerData<T>> data_;
};

}  // namespace

std::unique_ptr<Case> make_cnn_layer_case(CnnLayerSpec spec) {
  if (spec.problem.type == DataType::float64) return std::make_unique<CnnLayerCase<double>>(std::move(spec));
  return std::make_unique<CnnLayerCase<float>>(std::move(spec));
}

Work cnn_layer_work(const CnnLayer& p) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const double filter = number(p.input_channels * p.filter_height * p.filter_width);
  const double planes = number(p.batch * p.output_channels);
  const double sums = planes * number(p.convolved_height() * p.convolved_width());
  const double input = number(p.batch * p.input_channels) * number(p.height * p.width);
  const double outputs = planes * number(p.output_height() * p.output_width());
  return {.flops = 2 * sums * filter,
          .bytes = (input + number(p.output_channels) * filter + outputs) *
                   number(static_cast<std::int64_t>(size_bytes(p.type)))};
}

std::string cnn_layer_case_name(const CnnLayer& p) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  std::string name = std::string(to_string(p.type)) + "_c" + number(p.input_channels) + "_o" +
                     number(p.output_channels) + "_h" + number(p.height) + "_w" + number(p.width) + "_f" +
                     number(p.filter_height) + "x" + number(p.filter_width);
  if (p.stride != 1) name += "_stride" + number(p.stride);
  if (p.padding != 0) name += "_pad" + number(p.padding);
  if (p.pool_size != 1) name += "_pool" + number(p.pool_size);
  if (p.pool_step() != p.pool_size) name += "_by" + number(p.pool_step());
  if (!p.relu) name += "_no_relu";
  if (!p.bias) name += "_no_bias";
  if (p.layout != Layout::nchw) name += "_" + std::string(to_string(p.layout));
  if (p.batch != 1) name += "_batch" + number(p.batch);
  if (p.accuracy != Accuracy::accurate) name += "_" + std::string(to_string(p.accuracy));
  return name;
}

}  // namespace tessera::conformance
