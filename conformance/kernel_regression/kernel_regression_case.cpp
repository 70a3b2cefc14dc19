// Cases of kernel_regression: names, fields and amount of work; the operands, made once and shared by every run.
#include "conformance/kernel_regression/kernel_regression_case.h"

#include <algorithm>
#include <array>
#include <utility>

#include "conformance/case_name.h"
#include "conformance/kernel_regression/kernel_regression_run.h"
#include "conformance/odd_sizes.h"
#include "conformance/spec_case.h"

namespace tessera::conformance {

namespace {

constexpr std::int64_t kClusters = 10;

/// Sequences of random numbers, by what they are for.
enum Seed : std::uint64_t { kOfTraining = 1, kOfQueries, kOfTargets, kOfCentres, kOfNoise, kOfChoice, kOfSamples };

std::int64_t cluster_of(std::int64_t row, std::uint64_t seed) {
  return static_cast<std::int64_t>(random_below(kClusters, kOfChoice + 16 * seed, static_cast<std::uint64_t>(row)));
}

template <class T>
T number_from(std::uint64_t bits, const RegressionSpec& spec) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return static_cast<std::uint8_t>(bits >> 13);
  } else {
    T value[1];
    fill_values(std::span<T>(value), spec.values, bits);
    return value[0];
  }
}

/// A cluster's centre and a quarter of noise: bytes from 0 to 255, floats from -1 to 1.
template <class T>
T number_near_centre(std::int64_t cluster, std::int64_t column, std::uint64_t index, std::uint64_t seed) {
  const auto centre =
      static_cast<double>(random_bits(kOfCentres, static_cast<std::uint64_t>(cluster * 1000003 + column)) >> 11);
  const auto noise = static_cast<double>(random_bits(kOfNoise + 16 * seed, index) >> 11);
  constexpr double kUnit = 0x1p-53;
  const double unit = 0.75 * centre * kUnit + 0.25 * noise * kUnit;
  return std::is_same_v<T, std::uint8_t> ? static_cast<T>(unit * 255.99) : static_cast<T>(2 * unit - 1);
}

template <class T>
std::vector<T> make_rows(const RegressionSpec& spec, std::int64_t rows, std::uint64_t seed) {
  const std::int64_t columns = spec.problem.columns;
  std::vector<T> made(static_cast<std::size_t>(rows * columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const auto index = static_cast<std::uint64_t>(row * columns + column);
      T& number = made[index];
      switch (spec.rows) {
        case RegressionRows::random: number = number_from<T>(random_bits(seed, index), spec); break;
        case RegressionRows::clusters:
          number = number_near_centre<T>(cluster_of(row, seed), column, index, seed);
          break;
        case RegressionRows::copies:
          number =
              number_from<T>(random_bits(kOfTraining, static_cast<std::uint64_t>(row / 3 * columns + column)), spec);
          break;
        case RegressionRows::constant: number = static_cast<T>(std::is_same_v<T, std::uint8_t> ? 200 : 0.7); break;
      }
      if constexpr (!std::is_same_v<T, std::uint8_t>) number += static_cast<T>(spec.offset);
    }
  }
  return made;
}

template <class T>
std::vector<RegressionResult<T>> make_targets(const RegressionSpec& spec) {
  const KernelRegression& p = spec.problem;
  std::vector<RegressionResult<T>> targets(static_cast<std::size_t>(p.training_rows * p.outputs));
  fill_values(std::span<RegressionResult<T>>(targets), Values::symmetric, kOfTargets);
  if (p.classes == 0 && spec.rows != RegressionRows::clusters) return targets;
  for (std::int64_t row = 0; row < p.training_rows; ++row) {
    RegressionResult<T>& first = targets[static_cast<std::size_t>(row * p.outputs)];
    // Of random rows some have a class that is none of those asked for, or no class at all.
    const auto drawn = static_cast<std::int64_t>(
        random_below(static_cast<std::uint64_t>(p.classes + 2), kOfChoice, static_cast<std::uint64_t>(row)));
    if (spec.rows == RegressionRows::clusters) {
      first = static_cast<RegressionResult<T>>(cluster_of(row, kOfTraining));
    } else {
      first = static_cast<RegressionResult<T>>(drawn) - (drawn == p.classes + 1 ? RegressionResult<T>(0.5) : 0);
    }
  }
  return targets;
}

template <class T>
std::shared_ptr<const RegressionData<T>> make_data(const RegressionSpec& spec) {
  const KernelRegression& p = spec.problem;
  auto data = std::make_shared<RegressionData<T>>();
  data->training = make_rows<T>(spec, p.training_rows, kOfTraining);
  data->queries = make_rows<T>(spec, p.queries, kOfQueries);
  data->targets = make_targets<T>(spec);
  for (const RegressionPlant& plant : spec.plants) {
    const auto index = static_cast<std::size_t>(plant.index);
    if (plant.operand == 'q') data->queries.at(index) = static_cast<T>(plant.value);
    if (plant.operand == 't') data->training.at(index) = static_cast<T>(plant.value);
    if (plant.operand == 'f') data->targets.at(index) = static_cast<RegressionResult<T>>(plant.value);
  }
  const bool is_chosen = spec.rows != RegressionRows::random || spec.offset != 0 || !spec.plants.empty();
  data->reference =
      std::make_unique<RegressionReference<T>>(RegressionInputs<T>{p, data->queries, data->training, data->targets},
                                               kOfSamples, draw_of(spec.values, is_chosen));
  return data;
}

template <class T>
class RegressionCase final : public SpecCase<RegressionSpec> {
 public:
  explicit RegressionCase(RegressionSpec spec) : SpecCase(std::move(spec), regression_case_name) {}

  std::vector<Field> problem() const override { return regression_fields(spec().problem, spec().prepared); }
  Work work() const override { return regression_work(spec().problem); }
  std::vector<std::unique_ptr<Case>> odd_neighbours() const override {
    return odd_neighbours_of(
        spec(),
        [](KernelRegression& p) {
          return std::array{&p.training_rows, &p.columns, &p.queries};
        },
        make_regression_case);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    auto kernel = device.kernel(spec().problem, options);  // first: a refusal must cost no inputs
    return std::make_unique<RegressionRun<T>>(device, std::move(kernel), data(), spec().misalignment, spec().prepared);
  }
  bool changes_output() const override { return spec().problem.queries > 0; }

 private:
  std::shared_ptr<const RegressionData<T>> data() const {
    // The expected values take long to compute, and a benchmark's case is prepared once for each variant and device.
    return data_.get(spec().purpose != Purpose::slow, [this] { return make_data<T>(spec()); });
  }

  CaseData<RegressionData<T>> data_;
};

}  // namespace

std::unique_ptr<Case> make_regression_case(RegressionSpec spec) {
  if (spec.problem.type == DataType::float64) return std::make_unique<RegressionCase<double>>(std::move(spec));
  if (spec.problem.type == DataType::uint8) return std::make_unique<RegressionCase<std::uint8_t>>(std::move(spec));
  return std::make_unique<RegressionCase<float>>(std::move(spec));
}

std::string regression_case_name(const KernelRegression& p) {
  std::string name = std::string(to_string(p.type)) + "_n" + std::to_string(p.training_rows) + "_d" +
                     std::to_string(p.columns) + "_q" + std::to_string(p.queries);
  if (p.outputs != 1) name += "_r" + std::to_string(p.outputs);
  if (p.order != 10) name += "_m" + number_for_name(p.order);
  if (p.scale != 1) name += "_s" + number_for_name(p.scale);
  if (p.distance == Distance::euclidean) name += "_euclidean";
  if (p.classes != 0) name += "_votes" + std::to_string(p.classes);
  if (p.nearest) name += "_nearest";
  if (p.neighbours) name += "_neighbours";
  if (p.accuracy != Accuracy::accurate) name += "_" + std::string(to_string(p.accuracy));
  return name;
}

Work regression_work(const KernelRegression& p) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const double elements = (number(p.training_rows) + number(p.queries)) * number(p.columns);
  const double results = number(p.queries) * number(p.outputs + p.classes + (p.neighbours ? 1 : 0));
  const double nearest = p.nearest ? number(p.queries) * (8 + static_cast<double>(size_bytes(p.squared_type()))) : 0;
  return {.flops = 2 * number(p.queries) * number(p.training_rows) * number(p.columns),
          .bytes = elements * static_cast<double>(size_bytes(p.type)) + nearest +
                   (number(p.training_rows * p.outputs) + results) * static_cast<double>(size_bytes(p.result_type()))};
}

}  // namespace tessera::conformance
