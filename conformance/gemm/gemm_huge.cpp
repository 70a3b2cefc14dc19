// Cases of gemm with element indices past 2^31.
#include "conformance/gemm/gemm_huge.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "conformance/gemm/gemm_case.h"
#include "conformance/gemm/gemm_oracle.h"
#include "conformance/guarded_buffer.h"
#include "conformance/huge_output.h"
#include "conformance/inputs.h"
#include "conformance/kernel_run.h"
#include "conformance/sparse_buffer.h"

namespace tessera::conformance {

namespace {

constexpr std::int64_t kFarStride = (std::int64_t{1} << 30) + 8;      // the third row starts past element 2^31
constexpr std::int64_t kWideColumns = (std::int64_t{1} << 31) + 301;  // odd, and a window apart from 2^31
constexpr std::size_t kWindow = 96;                                   // of a wide C, checked element by element

struct HugeData {
  Gemm problem;
  SparseContent<float> a;
  SparseContent<float> b;
  SparseContent<float> c;  // with poison in front and behind
  std::vector<Stretch> stretches;
};

/// Where the rows of an operand's matrices begin.
struct Spread {
  std::int64_t count;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;
  std::int64_t stride;

  [[nodiscard]] std::int64_t place(std::int64_t index, std::int64_t row) const {
    return index * stride + row * leading;
  }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(place(count - 1, rows - 1) + columns); }
};

SparseContent<float> spread_rows(const std::vector<float>& packed, const Spread& spread) {
  SparseContent<float> content{spread.size(), poison<float>(), {}};
  for (std::int64_t i = 0; i < spread.count * spread.rows; ++i) {
    const auto first = packed.begin() + i * spread.columns;
    const std::int64_t place = spread.place(i / spread.rows, i % spread.rows);
    content.windows.push_back({static_cast<std::size_t>(place), {first, first + spread.columns}});
  }
  return content;
}

std::vector<float> random_values(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_values(std::span<float>(values), Values::symmetric, seed);
  return values;
}

/// Small matrices far apart, or with rows far apart.
HugeData far_data(GemmFar far) {
  HugeData data;
  Gemm& problem = data.problem;
  problem = {.m = 3, .n = 5, .k = 3};
  if (far == GemmFar::a) problem.lda = kFarStride;
  if (far == GemmFar::b) problem.ldb = kFarStride;
  if (far == GemmFar::c) problem.ldc = kFarStride;
  if (far == GemmFar::batch_a || far == GemmFar::batch_b || far == GemmFar::batch_c) problem.batch = 3;
  if (far == GemmFar::batch_a) problem.stride_a = kFarStride;
  if (far == GemmFar::batch_b) problem.stride_b = kFarStride;
  if (far == GemmFar::batch_c) problem.stride_c = kFarStride;
  const Gemm full = with_layout(problem);
  const std::vector<float> a = random_values(full.batch * full.m * full.k, 1);
  const std::vector<float> b = random_values(full.batch * full.k * full.n, 2);
  data.a = spread_rows(a, {full.batch, full.m, full.k, full.lda, full.stride_a});
  data.b = spread_rows(b, {full.batch, full.k, full.n, full.ldb, full.stride_b});
  const Spread c{full.batch, full.m, full.n, full.ldc, full.stride_c};
  data.c = {c.size() + 2 * kHugeGuard, poison<float>(), {}};
  for (std::int64_t i = 0; i < full.batch; ++i) {
    const auto matrix = [&](const std::vector<float>& packed) {
      const std::size_t size = packed.size() / static_cast<std::size_t>(full.batch);
      return std::span<const float>(packed).subspan(static_cast<std::size_t>(i) * size, size);
    };
    const GemmInputs<float> inputs{problem, 1, 0, matrix(a), matrix(b), {}};
    for (std::int64_t row = 0; row < full.m; ++row) {
      Stretch stretch{static_cast<std::size_t>(c.place(i, row)) + kHugeGuard, {}};
      for (std::int64_t column = 0; column < full.n; ++column) {
        stretch.elements.emplace_back(gemm_element(inputs, row, column));
      }
      const bool is_last = row + 1 == full.m;
      const bool gap_follows = is_last ? i + 1 == full.batch || full.stride_c > full.m * full.ldc : full.ldc > full.n;
      if (gap_follows) stretch.elements.resize(stretch.elements.size() + kHugeGuard);
      data.stretches.push_back(std::move(stretch));
    }
  }
  data.stretches.push_back({0, std::vector<std::optional<Expected>>(kHugeGuard)});
  return data;
}

/// One row times a number: B is constant but for some windows, and C is looked at there.
HugeData wide_data() {
  HugeData data;
  data.problem = {.m = 1, .n = kWideColumns, .k = 1};
  const auto columns = static_cast<std::size_t>(kWideColumns);
  const std::vector<float> a{1.25F};
  data.a = {1, poison<float>(), {{0, a}}};
  data.b = {columns, 1.5F, {}};
  data.c = {columns + 2 * kHugeGuard, poison<float>(), {}};
  const std::size_t around = std::size_t{1} << 31;
  std::vector<std::size_t> places;
  const auto add_place = [&](std::size_t place) {
    const bool overlaps = std::any_of(places.begin(), places.end(), [&](std::size_t other) {
      return place < other + kWindow && other < place + kWindow;
    });
    if (!overlaps) places.push_back(place);
  };
  for (const std::size_t place : {std::size_t{0}, around / 2 - kWindow, around - kWindow / 2, columns - kWindow}) {
    add_place(place);
  }
  for (std::uint64_t i = 0; i < 60; ++i) add_place(random_below(columns - kWindow, 5, i));
  for (const std::size_t place : places) {
    std::vector<float> values = random_values(kWindow, 6 + place);
    // Half of each window holds values of its own, half the background's, so that the check sees both.
    values.resize(kWindow / 2);
    std::vector<float> b = values;
    b.resize(kWindow, data.b.background);
    data.b.windows.push_back({place, std::move(values)});
    const GemmInputs<float> inputs{{.m = 1, .n = static_cast<std::int64_t>(b.size()), .k = 1}, 1, 0, a, b, {}};
    Stretch stretch{place + kHugeGuard, {}};
    for (std::size_t i = 0; i < b.size(); ++i) {
      stretch.elements.emplace_back(gemm_element(inputs, 0, static_cast<std::int64_t>(i)));
    }
    data.stretches.push_back(std::move(stretch));
  }
  for (Stretch& guard : guards_around(columns)) data.stretches.push_back(std::move(guard));
  return data;
}

class HugeGemmRun final : public KernelRun<Gemm> {
 public:
  HugeGemmRun(const Device& device, OperatorKernel<Gemm> kernel, std::shared_ptr<const HugeData> data)
      : KernelRun<Gemm>(std::move(kernel)),
        data_(std::move(data)),
        a_(device, "A", data_->a),
        b_(device, "B", data_->b),
        c_(device, "C", data_->c) {}

  void reset(Queue& queue) override {
    a_.reset(queue);
    b_.reset(queue);
    c_.reset(queue);
  }
  void enqueue(Queue& queue) override {
    queue.run(kernel(), {.a = a_.view(0, data_->a.size),
                         .b = b_.view(0, data_->b.size),
                         .c = c_.view(kHugeGuard, data_->c.size - 2 * kHugeGuard)});
  }
  Outcome check(Queue& queue) override {
    Comparison comparison(DataType::float32);
    for (const Stretch& stretch : data_->stretches) {
      check_stretch(c_, queue, stretch, info().error_factor, "C", comparison);
    }
    return comparison.outcome();
  }
  std::vector<std::byte> output_bits(Queue& queue) override { return bits_of(c_, queue, data_->stretches); }
  std::unique_ptr<Run> twin(const Device& device) const override {
    return std::make_unique<HugeGemmRun>(device, kernel(), data_);
  }

 private:
  std::shared_ptr<const HugeData> data_;
  SparseBuffer<float> a_;
  SparseBuffer<float> b_;
  SparseBuffer<float> c_;
};

class HugeGemmCase final : public Case {
 public:
  explicit HugeGemmCase(GemmFar far)
      : data_(std::make_shared<HugeData>(far == GemmFar::wide ? wide_data() : far_data(far))),
        name_(gemm_case_name(data_->problem)) {}

  std::string_view name() const override { return name_; }
  Purpose purpose() const override { return Purpose::slow; }
  DataType type() const override { return DataType::float32; }
  std::vector<Field> problem() const override { return gemm_fields(data_->problem); }
  Work work() const override { return gemm_work(data_->problem); }
  std::vector<VariantReport> explain(const Device& device) const override {
    return tessera::explain(data_->problem, device);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    return std::make_unique<HugeGemmRun>(device, device.kernel(data_->problem, options), data_);
  }
  std::string skip_reason(const Device& device) const override {
    return why_too_large(device, {data_->a.size_bytes(), data_->b.size_bytes(), data_->c.size_bytes()});
  }

 private:
  std::shared_ptr<const HugeData> data_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Case> make_huge_gemm_case(GemmFar far) {
  return std::make_unique<HugeGemmCase>(far);
}

}  // namespace tessera::conformance
