// A problem whose variants and tunings are as right and as fast as a test wants them to be, for the search: it proves
// that the tuner sees what is wrong, which no right backend could.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::tool::fake {

/// How a candidate behaves at a size of the problem.
struct Manners {
  double milliseconds = 1;
  bool is_wrong = false;
  bool throws = false;
};
using MannersOf = std::function<Manners(const std::string& variant, const Tuning& tuning, int size)>;

class TunableRun : public conformance::Run {
 public:
  TunableRun(const Device& device, const KernelOptions& options, MannersOf manners_of, int size)
      : manners_of_(std::move(manners_of)), size_(size) {
    take(device, options);
  }
  [[nodiscard]] const KernelInfo& info() const override { return info_; }
  void reset(Queue&) override {}
  void enqueue(Queue&) override {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(manners_.milliseconds));
  }
  [[nodiscard]] conformance::Outcome check(Queue&) override {
    if (manners_.is_wrong)
      return {.passed = false, .worst_error = 3, .bound = 1, .failure = "element 7 is 4, but must be 1 within 1"};
    return {.passed = true, .worst_error = 0.5, .bound = 1, .failure = ""};
  }
  [[nodiscard]] std::vector<std::byte> output_bits(Queue&) override { return {std::byte{1}}; }
  void remember_time(const Device&, double) override {}
  void change_kernel(const Device& device, const KernelOptions& options) override { take(device, options); }
  void share_kernel(const Run& other) override { take_info(other.info()); }
  [[nodiscard]] std::unique_ptr<conformance::Run> twin(const Device& device) const override {
    return std::make_unique<TunableRun>(device, KernelOptions{.variant = info_.variant, .tuning = info_.tuning},
                                        manners_of_, size_);
  }

 private:
  void take(const Device& device, const KernelOptions& options) {
    take_info(KernelInfo{"tunable", options.variant, device.id(), "", options.tuning, 1.0});
  }
  void take_info(KernelInfo info) {
    manners_ = manners_of_(info.variant, info.tuning, size_);
    if (manners_.throws) throw Error(ErrorCode::build_failed, "the fake kernel does not compile");
    info_ = std::move(info);
  }

  MannersOf manners_of_;
  int size_;
  Manners manners_;
  KernelInfo info_;
};

/// Of size 8, beside which 7 and 3 are odd.
class TunableCase : public conformance::Case {
 public:
  TunableCase(MannersOf manners_of, std::vector<VariantReport> reports, int size = 8)
      : name_("n" + std::to_string(size)),
        manners_of_(std::move(manners_of)),
        reports_(std::move(reports)),
        size_(size) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] conformance::Purpose purpose() const override { return conformance::Purpose::benchmark; }
  [[nodiscard]] DataType type() const override { return DataType::float32; }
  [[nodiscard]] std::vector<conformance::Field> problem() const override { return {{"n", std::int64_t{size_}}}; }
  [[nodiscard]] conformance::Work work() const override { return {1e6, 1e9}; }
  [[nodiscard]] std::vector<VariantReport> explain(const Device&) const override { return reports_; }
  [[nodiscard]] std::string shape_class() const override { return "n~8"; }
  void remember_tuning(const Device&, const TuningResult& result) const override { kept_.push_back(result); }
  [[nodiscard]] std::vector<std::unique_ptr<Case>> odd_neighbours() const override {
    std::vector<std::unique_ptr<Case>> cases;
    for (const int size : {7, 3}) cases.push_back(std::make_unique<TunableCase>(manners_of_, reports_, size));
    return cases;
  }
  [[nodiscard]] std::unique_ptr<conformance::Run> prepare(const Device& device,
                                                          const KernelOptions& options) const override {
    return std::make_unique<TunableRun>(device, options, manners_of_, size_);
  }
  [[nodiscard]] const std::vector<TuningResult>& kept() const { return kept_; }

 private:
  std::string name_;
  MannersOf manners_of_;
  std::vector<VariantReport> reports_;
  int size_;
  mutable std::vector<TuningResult> kept_;
};

}  // namespace tessera::tool::fake
