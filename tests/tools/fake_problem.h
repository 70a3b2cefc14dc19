// A problem set whose results are what a test wants them to be: right, wrong, unstable or an error. It proves that the
// tool can see a failure, which no right backend could.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::tool::fake {

/// `prepares`: right, but a run takes 40 ms more where reset() or make_ready() has not come before it.
enum class Behaviour { right, wrong, unstable, throws, wrong_later, prepares };

class FakeRun : public conformance::Run {
 public:
  FakeRun(Behaviour behaviour, KernelInfo info) : behaviour_(behaviour), info_(std::move(info)) {}

  [[nodiscard]] const KernelInfo& info() const override { return info_; }
  void reset(Queue&) override { is_ready_ = true; }
  void make_ready(Queue&) override { is_ready_ = true; }
  void enqueue(Queue&) override {
    ++runs_;
    if (behaviour_ == Behaviour::prepares && !is_ready_) std::this_thread::sleep_for(std::chrono::milliseconds(40));
    is_ready_ = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  [[nodiscard]] conformance::Outcome check(Queue&) override {
    if (behaviour_ == Behaviour::wrong)
      return {.passed = false, .worst_error = 3, .bound = 1, .failure = "element 7 is 4, but must be 1 within 1"};
    return {.passed = true, .worst_error = 0.5, .bound = 1, .failure = ""};
  }
  [[nodiscard]] std::vector<std::byte> output_bits(Queue&) override {
    if (behaviour_ == Behaviour::unstable) return {static_cast<std::byte>(runs_)};
    if (behaviour_ == Behaviour::wrong_later && runs_ > 5) return {std::byte{99}};
    return {std::byte{1}};
  }
  void remember_time(const Device&, double) override {}
  void change_kernel(const Device& device, const KernelOptions& options) override {
    info_ = KernelInfo{"fake", options.variant, device.id(), "", options.tuning, 1.0};
    is_ready_ = false;
  }
  void share_kernel(const Run& other) override {
    info_ = other.info();
    is_ready_ = false;
  }
  [[nodiscard]] std::unique_ptr<conformance::Run> twin(const Device&) const override {
    return std::make_unique<FakeRun>(behaviour_, info_);
  }

 private:
  Behaviour behaviour_;
  KernelInfo info_;
  int runs_ = 0;
  bool is_ready_ = false;
};

class FakeCase : public conformance::Case {
 public:
  FakeCase(std::string name, Behaviour behaviour, double flops = 1e6)
      : name_(std::move(name)), behaviour_(behaviour), flops_(flops) {}
  /// How often operands were made.
  [[nodiscard]] int prepared() const { return prepared_; }

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] conformance::Purpose purpose() const override { return conformance::Purpose::conformance; }
  [[nodiscard]] DataType type() const override { return DataType::float32; }
  [[nodiscard]] std::vector<conformance::Field> problem() const override { return {{"n", std::int64_t{8}}}; }
  /// So many bytes that one set of operands is enough, but where each set must be prepared.
  [[nodiscard]] conformance::Work work() const override {
    return {flops_, behaviour_ == Behaviour::prepares ? 1e6 : 1e9};
  }
  [[nodiscard]] bool tries_every_tuning() const override { return name_ == "case_0"; }
  [[nodiscard]] std::vector<VariantReport> explain(const Device&) const override {
    VariantReport plain;
    plain.variant = "plain";
    plain.can_run = true;
    plain.tunables = {{"tile", "side of the tile", {4, 8}, 8}};
    VariantReport fancy;
    fancy.variant = "fancy";
    fancy.because = "n of fake is 8, but must be at least 9";
    return {plain, fancy};
  }
  [[nodiscard]] std::unique_ptr<conformance::Run> prepare(const Device& device,
                                                          const KernelOptions& options) const override {
    if (behaviour_ == Behaviour::throws) throw Error(ErrorCode::device_lost, "the fake device is lost");
    ++prepared_;
    return std::make_unique<FakeRun>(behaviour_,
                                     KernelInfo{"fake", options.variant, device.id(), "", options.tuning, 1.0});
  }

 private:
  std::string name_;
  Behaviour behaviour_;
  double flops_;
  mutable int prepared_ = 0;
};

/// One operator "fake" with one case for each behaviour given, named case_0, case_1, ...
inline std::vector<conformance::ProblemSet> problem_sets(const std::vector<Behaviour>& behaviours) {
  std::vector<conformance::ProblemSet> sets(1);
  sets[0].operator_name = "fake";
  for (std::size_t i = 0; i < behaviours.size(); ++i) {
    sets[0].cases.push_back(std::make_unique<FakeCase>("case_" + std::to_string(i), behaviours[i]));
  }
  return sets;
}

}  // namespace tessera::tool::fake
