// Cases of cnn_layer with indices past 2^31: images of one value, with random patches where the output is looked at.
#include "conformance/cnn_layer/cnn_layer_huge.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "conformance/cnn_layer/cnn_layer_case.h"
#include "conformance/cnn_layer/cnn_layer_oracle.h"
#include "conformance/huge_output.h"
#include "conformance/inputs.h"
#include "conformance/kernel_run.h"

namespace tessera::conformance {

namespace {

constexpr std::int64_t kFilter = 3;
constexpr std::int64_t kReach = kFilter + 2 * kCnnLayerReach;  // no pixel further away tells on an output or its bound
constexpr std::int64_t kColumns = 40;                          // of an output's row that are looked at
constexpr std::size_t kRandomPlaces = 20;

CnnLayer problem_of(CnnLayerFar far) {
  CnnLayer problem{.input_channels = 2,
                   .output_channels = 2,
                   .height = 32769,
                   .width = 32771,
                   .filter_height = kFilter,
                   .filter_width = kFilter,
                   .padding = 1,
                   .bias = false};
  if (far == CnnLayerFar::pixels) problem.layout = Layout::nhwc;
  if (far == CnnLayerFar::batch) problem.input_channels = problem.output_channels = 1, problem.batch = 3;
  return problem;
}

/// Where an element lies, the same for input and output because both have the same sizes.
std::int64_t index_of(const CnnLayer& p, const CnnLayerPlace& place) {
  const std::int64_t channels = p.input_channels;
  if (p.layout == Layout::nhwc) {
    return ((place.image * p.height + place.y) * p.width + place.x) * channels + place.channel;
  }
  return ((place.image * channels + place.channel) * p.height + place.y) * p.width + place.x;
}

/// Rows' parts of the output, from a pixel on: at both ends, around the powers of two past which indices of elements or
/// of bytes wrap, and at random.
std::vector<CnnLayerPlace> places_of(const CnnLayer& p) {
  const std::int64_t elements = p.batch * p.input_channels * p.height * p.width;
  std::vector<std::int64_t> indices{0, elements - 1};
  for (const int power : {29, 30, 31}) indices.push_back(std::int64_t{1} << power);
  for (std::size_t i = 0; i < kRandomPlaces; ++i) {
    indices.push_back(static_cast<std::int64_t>(random_below(static_cast<std::uint64_t>(elements), 2, i)));
  }
  std::vector<CnnLayerPlace> places;
  for (std::int64_t rest : indices) {
    const auto take = [&rest](std::int64_t size) { return std::exchange(rest, rest / size) % size; };
    CnnLayerPlace place;
    if (p.layout == Layout::nhwc) place.channel = take(p.output_channels);
    const std::int64_t x = take(p.width);
    place.x = std::clamp<std::int64_t>(x - kColumns / 2, 0, p.width - kColumns);
    place.y = take(p.height);
    if (p.layout == Layout::nchw) place.channel = take(p.output_channels);
    place.image = rest;
    // The patches of two places must not touch, in any channel.
    const bool is_free = std::none_of(places.begin(), places.end(), [&](const CnnLayerPlace& other) {
      return other.image == place.image && std::abs(other.y - place.y) <= 2 * kReach &&
             std::abs(other.x - place.x) <= kColumns + 2 * kReach;
    });
    if (is_free) places.push_back(place);
  }
  return places;
}

struct HugeLayerData {
  /// Elements from `first` on, in the output's buffer, and what they must be.
  struct Looked {
    std::size_t first = 0;
    std::vector<CnnLayerExpected> elements;
  };

  CnnLayer problem;
  SparseContent<float> input;
  SparseContent<float> output;  // with poison in front and behind
  std::vector<float> weights;
  std::vector<Looked> looked;
};

/// The random patch around a place, in every channel, and what the outputs there must be.
void add_place(HugeLayerData& data, const CnnLayerPlace& place) {
  const CnnLayer& p = data.problem;
  const std::int64_t top = std::max<std::int64_t>(place.y - kReach, 0);
  const std::int64_t left = std::max<std::int64_t>(place.x - kReach, 0);
  CnnLayer local = p;
  local.batch = 1;
  local.height = std::min(place.y + kReach + 1, p.height) - top;
  local.width = std::min(place.x + kColumns + kReach, p.width) - left;
  std::vector<float> patch(static_cast<std::size_t>(local.input_channels * local.height * local.width));
  fill_values(std::span<float>(patch), Values::symmetric, static_cast<std::uint64_t>(index_of(p, place)));
  const bool is_innermost = p.layout == Layout::nhwc;
  const std::int64_t run = local.width * (is_innermost ? p.input_channels : 1);
  auto from = patch.begin();
  for (std::int64_t channel = 0; channel < (is_innermost ? 1 : p.input_channels); ++channel) {
    for (std::int64_t row = 0; row < local.height; ++row, from += run) {
      const std::int64_t first = index_of(p, {place.image, channel, top + row, left});
      data.input.windows.push_back({static_cast<std::size_t>(first), {from, from + run}});
    }
  }
  const CnnLayerInputs<float> inputs{local, patch, data.weights, {}};
  const std::int64_t first_channel = is_innermost ? 0 : place.channel;
  const std::int64_t last_channel = is_innermost ? p.output_channels - 1 : place.channel;
  const std::int64_t first = index_of(p, {place.image, first_channel, place.y, place.x});
  HugeLayerData::Looked looked{static_cast<std::size_t>(first) + kHugeGuard, {}};
  for (std::int64_t x = place.x; x < place.x + kColumns; ++x) {
    for (std::int64_t channel = first_channel; channel <= last_channel; ++channel) {
      looked.elements.push_back(cnn_layer_element(inputs, {0, channel, place.y - top, x - left}, true));
    }
  }
  data.looked.push_back(std::move(looked));
}

std::shared_ptr<const HugeLayerData> make_data(const CnnLayer& problem) {
  auto data = std::make_shared<HugeLayerData>();
  data->problem = problem;
  const auto elements =
      static_cast<std::size_t>(problem.batch * problem.input_channels * problem.height * problem.width);
  data->input = {elements, 0.5F, {}};
  data->output = {elements + 2 * kHugeGuard, poison<float>(), {}};
  data->weights.resize(static_cast<std::size_t>(problem.output_channels * problem.input_channels * kFilter * kFilter));
  fill_values(std::span<float>(data->weights), Values::symmetric, 1);
  for (const CnnLayerPlace& place : places_of(problem)) add_place(*data, place);
  return data;
}

class HugeLayerRun final : public KernelRun<CnnLayer> {
 public:
  HugeLayerRun(const Device& device, OperatorKernel<CnnLayer> kernel, std::shared_ptr<const HugeLayerData> data)
      : KernelRun<CnnLayer>(std::move(kernel)),
        data_(std::move(data)),
        input_(device, "the input", data_->input),
        output_(device, "the output", data_->output),
        weights_(device.upload<float>(data_->weights)) {}

  void reset(Queue& queue) override {
    input_.reset(queue);
    output_.reset(queue);
  }
  void enqueue(Queue& queue) override {
    queue.run(kernel(), {.input = input_.view(0, data_->input.size),
                         .weights = weights_,
                         .bias = {},
                         .output = output_.view(kHugeGuard, data_->input.size)});
  }
  Outcome check(Queue& queue) override {
    Comparison comparison(DataType::float32);
    for (const Stretch& stretch : stretches()) check_stretch(output_, queue, stretch, 1, "the output", comparison);
    return comparison.outcome();
  }
  std::vector<std::byte> output_bits(Queue& queue) override { return bits_of(output_, queue, stretches()); }
  std::unique_ptr<Run> twin(const Device& device) const override {
    return std::make_unique<HugeLayerRun>(device, kernel(), data_);
  }

 private:
  /// With the bounds of the kernel's error factor.
  [[nodiscard]] std::vector<Stretch> stretches() const {
    std::vector<Stretch> list = guards_around(data_->input.size);
    for (const HugeLayerData::Looked& looked : data_->looked) {
      Stretch stretch{looked.first, {}};
      for (const CnnLayerExpected& expected : looked.elements) {
        stretch.elements.emplace_back(Expected{expected.element.value, worst_of(expected, info().error_factor)});
      }
      list.push_back(std::move(stretch));
    }
    return list;
  }

  std::shared_ptr<const HugeLayerData> data_;
  SparseBuffer<float> input_;
  SparseBuffer<float> output_;
  Buffer<float> weights_;
};

class HugeLayerCase final : public Case {
 public:
  explicit HugeLayerCase(const CnnLayer& problem) : data_(make_data(problem)), name_(cnn_layer_case_name(problem)) {}

  std::string_view name() const override { return name_; }
  Purpose purpose() const override { return Purpose::slow; }
  DataType type() const override { return DataType::float32; }
  std::vector<Field> problem() const override { return cnn_layer_fields(data_->problem, false); }
  Work work() const override { return cnn_layer_work(data_->problem); }
  std::vector<VariantReport> explain(const Device& device) const override {
    return tessera::explain(data_->problem, device);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    return std::make_unique<HugeLayerRun>(device, device.kernel(data_->problem, options), data_);
  }
  std::string skip_reason(const Device& device) const override {
    return why_too_large(device, {data_->input.size_bytes(), data_->output.size_bytes()});
  }

 private:
  std::shared_ptr<const HugeLayerData> data_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Case> make_huge_cnn_layer_case(CnnLayerFar far) {
  return std::make_unique<HugeLayerCase>(problem_of(far));
}

}  // namespace tessera::conformance
