// Cases of gemm: names, fields and amount of work; the inputs, made once and shared by every run.
#include "conformance/gemm/gemm_case.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <utility>

#include "conformance/case_name.h"
#include "conformance/gemm/gemm_run.h"
#include "conformance/odd_sizes.h"
#include "conformance/spec_case.h"

namespace tessera::conformance {

namespace {

template <class T>
std::vector<T> make_matrices(const GemmSpec& spec, std::int64_t count, std::int64_t rows, std::int64_t columns,
                             bool is_read, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(count * rows * columns), std::numeric_limits<T>::quiet_NaN());
  if (is_read) fill_values(std::span<T>(values), spec.values, seed);
  return values;
}

template <class T>
std::shared_ptr<GemmData<T>> make_inputs(const GemmSpec& spec) {
  const Gemm& problem = spec.problem;
  auto data = std::make_shared<GemmData<T>>();
  data->alpha = static_cast<T>(problem.alpha);
  data->beta = static_cast<T>(problem.beta);
  data->draw = draw_of(spec.values, !spec.plants.empty());
  const std::int64_t a_count = gemm_matrix_count(problem.batch, problem.stride_a);
  const std::int64_t b_count = gemm_matrix_count(problem.batch, problem.stride_b);
  data->a = make_matrices<T>(spec, a_count, problem.m, problem.k, data->alpha != 0, 1);
  data->b = make_matrices<T>(spec, b_count, problem.k, problem.n, data->alpha != 0, 2);
  data->c = make_matrices<T>(spec, problem.batch, problem.m, problem.n, data->beta != 0, 3);
  for (const GemmPlant& plant : spec.plants) {
    const auto put = [&](std::vector<T>& matrices, bool transposed, std::int64_t rows, std::int64_t columns) {
      matrices[plant.index * rows * columns +
               (transposed ? plant.column * rows + plant.row : plant.row * columns + plant.column)] =
          static_cast<T>(plant.value);
    };
    if (plant.matrix == 'a') put(data->a, problem.transpose_a, problem.m, problem.k);
    if (plant.matrix == 'b') put(data->b, problem.transpose_b, problem.k, problem.n);
    if (plant.matrix == 'c') put(data->c, false, problem.m, problem.n);
  }
  return data;
}

template <class T>
std::shared_ptr<const GemmReferences<T>> make_references(const Gemm& problem, const GemmData<T>& data) {
  auto references = std::make_shared<GemmReferences<T>>();
  const std::int64_t a_count = gemm_matrix_count(problem.batch, problem.stride_a);
  const std::int64_t b_count = gemm_matrix_count(problem.batch, problem.stride_b);
  const auto matrix = [](const std::vector<T>& matrices, std::int64_t count, std::int64_t index) {
    const std::size_t size = count == 0 ? 0 : matrices.size() / static_cast<std::size_t>(count);
    return std::span<const T>(matrices).subspan(static_cast<std::size_t>(count > 1 ? index : 0) * size, size);
  };
  for (std::int64_t i = 0; i < problem.batch; ++i) {
    const GemmInputs<T> inputs{problem,
                               data.alpha,
                               data.beta,
                               matrix(data.a, a_count, i),
                               matrix(data.b, b_count, i),
                               matrix(data.c, problem.batch, i)};
    references->push_back(std::make_unique<GemmReference<T>>(inputs, 4 + static_cast<std::uint64_t>(i), data.draw));
  }
  return references;
}

template <class T>
class GemmCase final : public SpecCase<GemmSpec> {
 public:
  explicit GemmCase(GemmSpec spec) : SpecCase(std::move(spec), gemm_case_name) {}

  std::vector<Field> problem() const override { return gemm_fields(spec().problem, spec().values); }
  Work work() const override { return gemm_work(spec().problem); }
  std::vector<std::unique_ptr<Case>> odd_neighbours() const override {
    return odd_neighbours_of(
        spec(),
        [](Gemm& p) {
          return std::array{&p.m, &p.n, &p.k};
        },
        make_gemm_case);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    OperatorKernel<Gemm> kernel = device.kernel(spec().problem, options);  // first: a refusal must cost no inputs
    return std::make_unique<GemmRun<T>>(device, std::move(kernel), data(), spec().misalignment);
  }
  bool changes_output() const override {
    const Gemm& problem = spec().problem;
    const bool keeps_c = problem.beta == 1 && (problem.alpha == 0 || problem.k == 0);
    return problem.m > 0 && problem.n > 0 && problem.batch > 0 && !keeps_c;
  }

 private:
  std::shared_ptr<const GemmData<T>> data() const {
    const std::lock_guard lock(mutex_);
    if (std::shared_ptr<const GemmData<T>> data = data_.lock()) return data;
    const std::shared_ptr<GemmData<T>> data = make_inputs<T>(spec());
    data->references = references_ ? references_ : make_references(spec().problem, *data);
    data_ = data;
    // Small inputs are kept: the next device or variant takes them as they are. Of large ones the expected values are:
    // they take longer to compute and less memory.
    if (spec().purpose == Purpose::conformance) kept_ = data;
    if (spec().purpose != Purpose::conformance && spec().purpose != Purpose::slow) references_ = data->references;
    return data;
  }

  mutable std::mutex mutex_;
  mutable std::weak_ptr<const GemmData<T>> data_;
  mutable std::shared_ptr<const GemmData<T>> kept_;
  mutable std::shared_ptr<const GemmReferences<T>> references_;
};

}  // namespace

std::unique_ptr<Case> make_gemm_case(GemmSpec spec) {
  if (spec.problem.type == DataType::float64) return std::make_unique<GemmCase<double>>(std::move(spec));
  return std::make_unique<GemmCase<float>>(std::move(spec));
}

std::int64_t gemm_matrix_count(std::int64_t batch, std::int64_t stride) {
  return stride == 0 ? std::min<std::int64_t>(batch, 1) : batch;
}

std::string gemm_case_name(const Gemm& problem) {
  std::string name(to_string(problem.type));
  name += "_m" + std::to_string(problem.m) + "_n" + std::to_string(problem.n) + "_k" + std::to_string(problem.k);
  if (problem.transpose_a) name += "_ta";
  if (problem.transpose_b) name += "_tb";
  if (problem.alpha != 1) name += "_alpha" + number_for_name(problem.alpha);
  if (problem.beta != 0) name += "_beta" + number_for_name(problem.beta);
  if (problem.lda != 0) name += "_lda" + std::to_string(problem.lda);
  if (problem.ldb != 0) name += "_ldb" + std::to_string(problem.ldb);
  if (problem.ldc != 0) name += "_ldc" + std::to_string(problem.ldc);
  if (problem.batch != 1) name += "_batch" + std::to_string(problem.batch);
  if (problem.stride_a != Gemm::kPacked) name += "_sa" + std::to_string(problem.stride_a);
  if (problem.stride_b != Gemm::kPacked) name += "_sb" + std::to_string(problem.stride_b);
  if (problem.stride_c != Gemm::kPacked) name += "_sc" + std::to_string(problem.stride_c);
  if (problem.accuracy != Accuracy::accurate) name += "_" + std::string(to_string(problem.accuracy));
  return name;
}

Work gemm_work(const Gemm& problem) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const double k = problem.alpha != 0 ? static_cast<double>(problem.k) : 0;
  const auto batch = static_cast<double>(problem.batch);
  const auto a_count = static_cast<double>(gemm_matrix_count(problem.batch, problem.stride_a));
  const auto b_count = static_cast<double>(gemm_matrix_count(problem.batch, problem.stride_b));
  const double elements = a_count * m * k + b_count * k * n + batch * m * n * (problem.beta != 0 ? 2 : 1);
  return {.flops = batch * 2 * m * n * k, .bytes = elements * static_cast<double>(size_bytes(problem.type))};
}

}  // namespace tessera::conformance
