// Cases of conv2d: names, fields and amount of work; the images, made once and shared by every run.
#include "conformance/conv2d/conv2d_case.h"

#include <array>
#include <utility>

#include "conformance/conv2d/conv2d_run.h"
#include "conformance/odd_sizes.h"
#include "conformance/spec_case.h"

namespace tessera::conformance {

namespace {

template <class T>
std::shared_ptr<const Conv2dData<T>> make_data(const Conv2dSpec& spec) {
  const Conv2d& problem = spec.problem;
  auto data = std::make_shared<Conv2dData<T>>();
  data->images.resize(static_cast<std::size_t>(problem.batch * problem.height * problem.width));
  if (std::is_same_v<T, std::int32_t> && spec.largest != 0) {
    const std::uint64_t values = 2 * static_cast<std::uint64_t>(spec.largest) + 1;
    for (std::size_t i = 0; i < data->images.size(); ++i) {
      data->images[i] = static_cast<T>(static_cast<std::int64_t>(random_below(values, 3, i)) - spec.largest);
    }
  } else if constexpr (std::is_integral_v<T>) {
    fill_integers(std::span<T>(data->images), 1);
  } else {
    fill_values(std::span<T>(data->images), spec.values, 1);
  }
  for (const Conv2dPlant& plant : spec.plants) {
    data->images[(plant.image * problem.height + plant.y) * problem.width + plant.x] = static_cast<T>(plant.value);
  }
  const Draw draw = draw_of(spec.values, !spec.plants.empty());
  data->reference = std::make_unique<Conv2dReference<T>>(Conv2dInputs<T>{problem, data->images}, 2, draw);
  return data;
}

template <class T>
class Conv2dCase final : public SpecCase<Conv2dSpec> {
 public:
  explicit Conv2dCase(Conv2dSpec spec) : SpecCase(std::move(spec), conv2d_case_name) {}

  std::vector<Field> problem() const override { return conv2d_fields(spec().problem); }
  Work work() const override { return conv2d_work(spec().problem); }
  std::vector<std::unique_ptr<Case>> odd_neighbours() const override {
    return odd_neighbours_of(
        spec(),
        [](Conv2d& p) {
          return std::array{&p.height, &p.width};
        },
        make_conv2d_case);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    OperatorKernel<Conv2d> kernel = device.kernel(spec().problem, options);  // first: a refusal must cost no inputs
    return std::make_unique<Conv2dRun<T>>(device, std::move(kernel), data(), spec().misalignment);
  }
  bool changes_output() const override {
    const Conv2d& p = spec().problem;
    return p.batch > 0 && p.output_height() > 0 && p.output_width() > 0;
  }

 private:
  std::shared_ptr<const Conv2dData<T>> data() const {
    // Small inputs are kept: the next device or variant takes them as they are.
    return data_.get(spec().purpose == Purpose::conformance, [this] { return make_data<T>(spec()); });
  }

  CaseData<Conv2dData<T>> data_;
};

}  // namespace

std::unique_ptr<Case> make_conv2d_case(Conv2dSpec spec) {
  switch (spec.problem.type) {
    case DataType::uint8: return std::make_unique<Conv2dCase<std::uint8_t>>(std::move(spec));
    case DataType::int16: return std::make_unique<Conv2dCase<std::int16_t>>(std::move(spec));
    case DataType::int32: return std::make_unique<Conv2dCase<std::int32_t>>(std::move(spec));
    default: return std::make_unique<Conv2dCase<float>>(std::move(spec));
  }
}

Work conv2d_work(const Conv2d& p) {
  const auto images = static_cast<double>(p.batch);
  const double pixels = images * static_cast<double>(p.height) * static_cast<double>(p.width);
  const double outputs = images * static_cast<double>(p.output_height()) * static_cast<double>(p.output_width());
  return {.flops = 2 * outputs * static_cast<double>(p.filter_height * p.filter_width),
          .bytes = pixels * static_cast<double>(size_bytes(p.type)) +
                   outputs * static_cast<double>(size_bytes(p.output_type()))};
}

std::string conv2d_case_name(const Conv2d& problem) {
  std::string name(to_string(problem.type));
  name += "_h" + std::to_string(problem.height) + "_w" + std::to_string(problem.width) + "_f" +
          std::to_string(problem.filter_height) + "x" + std::to_string(problem.filter_width);
  name += "_" + std::string(to_string(problem.border));
  if (problem.flip) name += "_flip";
  if (problem.anchor_y != Conv2d::kCentre) name += "_ay" + std::to_string(problem.anchor_y);
  if (problem.anchor_x != Conv2d::kCentre) name += "_ax" + std::to_string(problem.anchor_x);
  if (problem.batch != 1) name += "_batch" + std::to_string(problem.batch);
  if (problem.accuracy != Accuracy::accurate) name += "_" + std::string(to_string(problem.accuracy));
  return name;
}

}  // namespace tessera::conformance
