// A case of patch_match with indices past 2^31: a volume of one value, with random voxels where the references look.
#include "conformance/patch_match/patch_match_huge.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/guarded_buffer.h"
#include "conformance/huge_output.h"
#include "conformance/inputs.h"
#include "conformance/kernel_run.h"
#include "conformance/patch_match/patch_match_case.h"
#include "conformance/patch_match/patch_match_reference.h"
#include "conformance/sparse_buffer.h"

namespace tessera::conformance {

namespace {

/// 1291 x 1297 x 1301 voxels with 3 or 4 references along each axis.
PatchMatch huge_problem(DataType type) {
  return {.size = {1291, 1297, 1301},
          .patch = {4, 3, 2},
          .window = {7, 5, 5},
          .step = {600, 500, 700},
          .max_patches = 9,
          .type = type};
}

template <class T>
struct HugePatchData {
  PatchMatch problem;
  SparseContent<T> volume;
  std::vector<PatchStack<T>> stacks;  // of every reference
};

/// The rows that a reference's candidates lie in, of random voxels.
template <class T>
void add_rows(std::map<std::int64_t, std::vector<T>>& rows, const PatchMatch& p, const PatchWindow& window) {
  const std::int64_t width = window.end.x - 1 + p.patch.x - window.first.x;
  for (std::int64_t z = window.first.z; z < window.end.z - 1 + p.patch.z; ++z) {
    for (std::int64_t y = window.first.y; y < window.end.y - 1 + p.patch.y; ++y) {
      const std::int64_t first = index_of_voxel(p, {window.first.x, y, z});
      std::vector<T> row(static_cast<std::size_t>(width));
      if constexpr (std::is_same_v<T, float>) {
        fill_values(std::span<T>(row), Values::symmetric, static_cast<std::uint64_t>(first));
      } else {
        fill_integers(std::span<T>(row), static_cast<std::uint64_t>(first));
      }
      rows.emplace(first, std::move(row));
    }
  }
}

template <class T>
std::shared_ptr<const HugePatchData<T>> make_data(DataType type) {
  auto data = std::make_shared<HugePatchData<T>>();
  const PatchMatch& p = data->problem = huge_problem(type);
  std::map<std::int64_t, std::vector<T>> rows;
  const std::int64_t references = p.references().product();
  for (std::int64_t i = 0; i < references; ++i) add_rows(rows, p, window_around(p, place_of_reference(p, i)));
  data->volume = {static_cast<std::size_t>(p.size.product()), T(3), {}};
  const auto voxel = [&](std::int64_t index) {
    auto row = rows.upper_bound(index);
    const auto offset = static_cast<std::size_t>(index - (--row)->first);
    return offset < row->second.size() ? row->second[offset] : T(3);
  };
  for (std::int64_t i = 0; i < references; ++i) data->stacks.push_back(expected_stack<T>(p, voxel, i));
  for (const auto& [first, values] : rows) data->volume.windows.push_back({static_cast<std::size_t>(first), values});
  return data;
}

template <class T>
class HugePatchRun final : public KernelRun<PatchMatch> {
 public:
  HugePatchRun(const Device& device, OperatorKernel<PatchMatch> kernel, std::shared_ptr<const HugePatchData<T>> data)
      : KernelRun<PatchMatch>(std::move(kernel)),
        data_(std::move(data)),
        volume_(device, "the volume", data_->volume),
        counts_(device, "the counts", std::vector<std::int32_t>(data_->stacks.size(), poison<std::int32_t>()), 0),
        distances_(device, "the distances", std::vector<PatchDistance<T>>(places(), poison<PatchDistance<T>>()), 0),
        indices_(device, "the indices", std::vector<std::int64_t>(places(), poison<std::int64_t>()), 0) {}

  void reset(Queue& queue) override {
    volume_.reset(queue);
    counts_.reset(queue);
    distances_.reset(queue);
    indices_.reset(queue);
  }
  void enqueue(Queue& queue) override {
    queue.run(kernel(), {.volume = volume_.view(0, data_->volume.size),
                         .counts = counts_.view(),
                         .distances = distances_.view(),
                         .indices = indices_.view()});
  }
  Outcome check(Queue& queue) override {
    Comparison comparison(data_->problem.distance_type());
    const auto counts = counts_.download(queue);
    const auto distances = distances_.download(queue);
    const auto indices = indices_.download(queue);
    for (std::string damage :
         {counts_.find_damage(counts), distances_.find_damage(distances), indices_.find_damage(indices)}) {
      if (!damage.empty()) comparison.fail(std::move(damage));
    }
    const auto each = static_cast<std::size_t>(data_->problem.max_patches);
    for (std::size_t i = 0; i < data_->stacks.size(); ++i) {
      check_stack<T>({.counts = counts_.content_of(counts).subspan(i, 1),
                      .distances = distances_.content_of(distances).subspan(i * each, each),
                      .indices = indices_.content_of(indices).subspan(i * each, each)},
                     data_->stacks[i], static_cast<std::int64_t>(i), comparison);
    }
    return comparison.outcome();
  }
  std::vector<std::byte> output_bits(Queue& queue) override {
    return joined({bits_of(counts_, queue), bits_of(distances_, queue), bits_of(indices_, queue)});
  }
  std::unique_ptr<Run> twin(const Device& device) const override {
    return std::make_unique<HugePatchRun>(device, kernel(), data_);
  }

 private:
  [[nodiscard]] std::size_t places() const {
    return data_->stacks.size() * static_cast<std::size_t>(data_->problem.max_patches);
  }

  std::shared_ptr<const HugePatchData<T>> data_;
  SparseBuffer<T> volume_;
  GuardedBuffer<std::int32_t> counts_;
  GuardedBuffer<PatchDistance<T>> distances_;
  GuardedBuffer<std::int64_t> indices_;
};

template <class T>
class HugePatchCase final : public Case {
 public:
  explicit HugePatchCase(DataType type) : data_(make_data<T>(type)), name_(patch_case_name(data_->problem)) {}

  std::string_view name() const override { return name_; }
  Purpose purpose() const override { return Purpose::slow; }
  DataType type() const override { return data_->problem.type; }
  std::vector<Field> problem() const override { return patch_fields(data_->problem); }
  Work work() const override { return patch_work(data_->problem); }
  std::vector<VariantReport> explain(const Device& device) const override {
    return tessera::explain(data_->problem, device);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    return std::make_unique<HugePatchRun<T>>(device, device.kernel(data_->problem, options), data_);
  }
  std::string skip_reason(const Device& device) const override {
    return why_too_large(device, {data_->volume.size_bytes()});
  }

 private:
  std::shared_ptr<const HugePatchData<T>> data_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Case> make_huge_patch_case(DataType type) {
  if (type == DataType::uint8) return std::make_unique<HugePatchCase<std::uint8_t>>(type);
  if (type == DataType::uint16) return std::make_unique<HugePatchCase<std::uint16_t>>(type);
  return std::make_unique<HugePatchCase<float>>(type);
}

}  // namespace tessera::conformance
