// Cases of conv2d with indices past 2^31: images of one value, with random patches where the output is looked at.
#include "conformance/conv2d/conv2d_huge.h"

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/conv2d/conv2d_case.h"
#include "conformance/conv2d/conv2d_oracle.h"
#include "conformance/huge_output.h"
#include "conformance/inputs.h"
#include "conformance/kernel_run.h"

namespace tessera::conformance {

namespace {

constexpr std::int64_t kFilter = 5;
constexpr std::int64_t kReach = kFilter;  // no pixel further away than this counts for an output
constexpr std::int64_t kColumns = 64;     // of an output's row that are looked at, at most
constexpr std::size_t kRandomPlaces = 40;

Conv2d problem_of(Conv2dFar far, DataType type) {
  constexpr std::int64_t kRow = std::int64_t{1} << 29;
  Conv2d problem{
      .height = 46349, .width = 46351, .filter_height = kFilter, .filter_width = kFilter, .filter = {}, .type = type};
  if (far == Conv2dFar::wide) problem.height = 5, problem.width = kRow + 37;
  if (far == Conv2dFar::tall) problem.height = kRow + 37, problem.width = 5;
  if (far == Conv2dFar::batch) problem.height = 32769, problem.width = 32771, problem.batch = 3;
  problem.filter.resize(kFilter * kFilter);
  for (std::size_t k = 0; k < problem.filter.size(); ++k) {
    problem.filter[k] = static_cast<double>(random_below(17, 1, k)) - 8;
  }
  return problem;
}

/// A row's part of the output: `columns` pixels from (y, x) of an image on.
struct Place {
  std::int64_t image;
  std::int64_t y;
  std::int64_t x;
};

/// The first and the last pixels, those around the powers of two past which indices of elements or of bytes wrap, and
/// some at random.
std::vector<Place> places_of(const Conv2d& p) {
  const std::int64_t pixels = p.batch * p.height * p.width;
  std::vector<std::int64_t> indices{0, pixels - 1};
  for (const int power : {29, 30, 31}) {
    for (const std::int64_t beside : {-1, 0}) indices.push_back((std::int64_t{1} << power) + beside);
  }
  for (std::size_t i = 0; i < kRandomPlaces; ++i) {
    indices.push_back(static_cast<std::int64_t>(random_below(static_cast<std::size_t>(pixels), 2, i)));
  }
  std::vector<Place> places;
  for (const std::int64_t index : indices) {
    if (index >= pixels) continue;
    const std::int64_t row = index / p.width;
    const std::int64_t x =
        std::clamp<std::int64_t>(index % p.width - kColumns / 2, 0, std::max<std::int64_t>(p.width - kColumns, 0));
    const Place place{row / p.height, row % p.height, x};
    // The patches of two places must not touch.
    const bool is_free = std::none_of(places.begin(), places.end(), [&](const Place& other) {
      return other.image == place.image && std::abs(other.y - place.y) <= 2 * kReach &&
             std::abs(other.x - place.x) <= kColumns + 2 * kReach;
    });
    if (is_free) places.push_back(place);
  }
  return places;
}

template <class T>
struct HugeConv2dData {
  using Output = typename Conv2dInputs<T>::Output;

  Conv2d problem;
  SparseContent<T> images;
  SparseContent<Output> outputs;  // with poison in front and behind
  std::vector<Stretch> stretches;
};

/// The random patch around a place, which goes into the images, and what the place must give: the patch reaches so far
/// that its own edges count for nothing, but where they are the image's.
template <class T>
void add_place(HugeConv2dData<T>& data, const Place& place) {
  const Conv2d& p = data.problem;
  const std::int64_t top = std::max<std::int64_t>(place.y - kReach, 0);
  const std::int64_t left = std::max<std::int64_t>(place.x - kReach, 0);
  const std::int64_t right = std::min(place.x + kColumns + kReach, p.width);
  Conv2d local = p;
  local.batch = 1;
  local.height = std::min(place.y + kReach + 1, p.height) - top;
  local.width = right - left;
  std::vector<T> patch(static_cast<std::size_t>(local.height * local.width));
  const std::int64_t first_row = place.image * p.height + top;
  const auto seed = static_cast<std::uint64_t>(first_row * p.width + left);
  if constexpr (std::is_integral_v<T>) {
    fill_integers(std::span<T>(patch), seed);
  } else {
    fill_values(std::span<T>(patch), Values::symmetric, seed);
  }
  for (std::int64_t row = 0; row < local.height; ++row) {
    const auto begin = patch.begin() + row * local.width;
    data.images.windows.push_back(
        {static_cast<std::size_t>((first_row + row) * p.width + left), {begin, begin + local.width}});
  }
  const Conv2dInputs<T> inputs{local, patch};
  const std::int64_t y = place.y - top;
  const std::int64_t columns = std::min(kColumns, p.width - place.x);
  Stretch stretch{static_cast<std::size_t>((place.image * p.height + place.y) * p.width + place.x) + kHugeGuard, {}};
  for (std::int64_t x = place.x - left; x < place.x - left + columns; ++x) {
    stretch.elements.emplace_back(conv2d_element(inputs, 0, y, x));
  }
  data.stretches.push_back(std::move(stretch));
}

template <class T>
std::shared_ptr<const HugeConv2dData<T>> make_data(const Conv2d& problem) {
  using Output = typename Conv2dInputs<T>::Output;
  auto data = std::make_shared<HugeConv2dData<T>>();
  data->problem = problem;
  const auto pixels = static_cast<std::size_t>(problem.batch * problem.height * problem.width);
  data->images = {pixels, T(3), {}};
  data->outputs = {pixels + 2 * kHugeGuard, poison<Output>(), {}};
  for (const Place& place : places_of(problem)) add_place(*data, place);
  for (Stretch& guard : guards_around(pixels)) data->stretches.push_back(std::move(guard));
  return data;
}

template <class T>
class HugeConv2dRun final : public KernelRun<Conv2d> {
 public:
  HugeConv2dRun(const Device& device, OperatorKernel<Conv2d> kernel, std::shared_ptr<const HugeConv2dData<T>> data)
      : KernelRun<Conv2d>(std::move(kernel)),
        data_(std::move(data)),
        images_(device, "the image", data_->images),
        outputs_(device, "the output", data_->outputs) {}

  void reset(Queue& queue) override {
    images_.reset(queue);
    outputs_.reset(queue);
  }
  void enqueue(Queue& queue) override {
    queue.run(kernel(),
              {.image = images_.view(0, data_->images.size), .output = outputs_.view(kHugeGuard, data_->images.size)});
  }
  Outcome check(Queue& queue) override {
    Comparison comparison(data_->problem.output_type());
    for (const Stretch& stretch : data_->stretches) {
      check_stretch(outputs_, queue, stretch, info().error_factor, "the output", comparison);
    }
    return comparison.outcome();
  }
  std::vector<std::byte> output_bits(Queue& queue) override { return bits_of(outputs_, queue, data_->stretches); }
  std::unique_ptr<Run> twin(const Device& device) const override {
    return std::make_unique<HugeConv2dRun>(device, kernel(), data_);
  }

 private:
  std::shared_ptr<const HugeConv2dData<T>> data_;
  SparseBuffer<T> images_;
  SparseBuffer<typename Conv2dInputs<T>::Output> outputs_;
};

template <class T>
class HugeConv2dCase final : public Case {
 public:
  explicit HugeConv2dCase(const Conv2d& problem) : data_(make_data<T>(problem)), name_(conv2d_case_name(problem)) {}

  std::string_view name() const override { return name_; }
  Purpose purpose() const override { return Purpose::slow; }
  DataType type() const override { return data_->problem.type; }
  std::vector<Field> problem() const override { return conv2d_fields(data_->problem); }
  Work work() const override { return conv2d_work(data_->problem); }
  std::vector<VariantReport> explain(const Device& device) const override {
    return tessera::explain(data_->problem, device);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    return std::make_unique<HugeConv2dRun<T>>(device, device.kernel(data_->problem, options), data_);
  }
  std::string skip_reason(const Device& device) const override {
    return why_too_large(device, {data_->images.size_bytes(), data_->outputs.size_bytes()});
  }

 private:
  std::shared_ptr<const HugeConv2dData<T>> data_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Case> make_huge_conv2d_case(Conv2dFar far, DataType type) {
  const Conv2d problem = problem_of(far, type);
  if (type == DataType::uint8) return std::make_unique<HugeConv2dCase<std::uint8_t>>(problem);
  return std::make_unique<HugeConv2dCase<float>>(problem);
}

}  // namespace tessera::conformance
