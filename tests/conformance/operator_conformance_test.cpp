// Every variant on every device against the oracle: the front half's word (explain) is held to in both directions, a
// forced variant is proven to have run, and a second run must give the same bits.
#include "operator_conformance_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/problem_set.h"
#include "conformance/tunings.h"
#include "devices_present.h"
#include "each_device.h"
#include "support/one_of.h"

namespace tessera::testing_support {

namespace {

using conformance::Case;
using conformance::Outcome;
using conformance::ProblemSet;
using conformance::Purpose;

/// Work up to which a benchmark case is a slow test as well: 512 cubed. The benchmark checks the larger ones itself.
constexpr double kSlowestFlops = 5e8;
/// Combinations of tuning values up to which all are tried; above, each value is tried beside the preferred others.
constexpr std::size_t kMostCombinations = 64;

/// What one generated test does.
struct Subject {
  const Case* problem = nullptr;
  std::string device;
  std::string variant;
  Tuning tuning;
  bool twice = true;
};

/// Of each variant, every which test has a second run: $TESSERA_TEST_SECOND_RUN_OF, or 1 for all. 0, for none, is right
/// for a device that goes through all work-items in one order, where a second run shows nothing.
int second_run_of() {
  const char* text = std::getenv("TESSERA_TEST_SECOND_RUN_OF");
  return text == nullptr ? 1 : std::atoi(text);
}

std::optional<VariantReport> report_of(const Case& problem, const Device& device, const std::string& variant) {
  for (VariantReport& report : problem.explain(device)) {
    if (report.variant == variant) return std::move(report);
  }
  return std::nullopt;
}

class OperatorTest : public testing::Test {
 public:
  explicit OperatorTest(Subject subject) : subject_(std::move(subject)) {}

  void TestBody() override {
    const Device& device = shared_device(subject_.device);
    if (const std::string reason = subject_.problem->skip_reason(device); !reason.empty()) GTEST_SKIP() << reason;
    const auto report = report_of(*subject_.problem, device, subject_.variant);
    ASSERT_TRUE(report) << "explain() does not name the variant for this problem";
    if (!report->can_run) {
      expect_refusal(device, *report);
      if (HasFailure()) return;
      GTEST_SKIP() << "unsupported: " << report->because;
    }
    run(device, *report);
  }

 private:
  /// explain() said no: forcing the variant must fail, and say the same.
  void expect_refusal(const Device& device, const VariantReport& report) {
    EXPECT_FALSE(report.because.empty()) << "explain() says no without a reason";
    EXPECT_FALSE(report.is_default);
    const Refusal refusal =
        refusal_of([&] { static_cast<void>(subject_.problem->prepare(device, {.variant = subject_.variant})); });
    EXPECT_EQ(refusal.code, ErrorCode::unsupported) << refusal.what;
    EXPECT_TRUE(contains(refusal.sentence, report.because));
  }

  /// explain() said yes: it must be true.
  void run(const Device& device, const VariantReport& report) {
    const std::unique_ptr<conformance::Run> run =
        subject_.problem->prepare(device, {.variant = subject_.variant, .tuning = subject_.tuning});
    expect_info(run->info(), report);
    Queue queue(device);
    run->reset(queue);
    const std::vector<std::byte> before = run->output_bits(queue);
    run->enqueue(queue);
    const Outcome outcome = run->check(queue);
    EXPECT_TRUE(outcome.passed) << outcome.failure;
    const std::vector<std::byte> first = run->output_bits(queue);
    if (subject_.problem->changes_output()) {
      EXPECT_TRUE(before != first) << "no bit of the output changed: nothing ran";
    }
    if (subject_.twice) {
      run->reset(queue);
      run->enqueue(queue);
      EXPECT_TRUE(first == run->output_bits(queue)) << "a second run gives other bits";
    }
    queue.finish();
  }

  void expect_info(const KernelInfo& info, const VariantReport& report) {
    EXPECT_EQ(info.variant, subject_.variant) << "another variant was taken than the one forced";
    EXPECT_EQ(info.device, subject_.device);
    Tuning expected = subject_.tuning, preferred;
    for (const Tunable& tunable : report.tunables) {
      expected.emplace(tunable.name, tunable.preferred);
      preferred.emplace(tunable.name, tunable.preferred);
    }
    EXPECT_EQ(info.tuning, expected);
    // Of CUDA's winograd_split unit.cuda.choices asks for the factors of all tunings.
    const bool has_factors_of_tunings =
        subject_.variant == "winograd_split" || (subject_.variant == "split" && subject_.device.starts_with("opencl"));
    if (expected == preferred || !has_factors_of_tunings) {
      EXPECT_EQ(info.error_factor, report.error_factor);
    }
  }

  Subject subject_;
};

/// Every problem's default on one device: the first variant that can run and is not passed over, and no other. A
/// backend that lists no variant at all does not offer the operator; floors say whether it must.
class DefaultTest : public testing::Test {
 public:
  DefaultTest(const ProblemSet& set, std::string device) : set_(&set), device_(std::move(device)) {}

  void TestBody() override {
    const Device& device = shared_device(device_);
    int met = 0;
    for (const auto& problem : set_->cases) {
      if (problem->purpose() != Purpose::conformance || met++ % one_of() != 0) continue;
      SCOPED_TRACE(problem->name());
      std::string first;
      const std::vector<VariantReport> reports = problem->explain(device);
      if (reports.empty()) GTEST_SKIP() << device_ << " offers no variant of " << set_->operator_name;
      for (const VariantReport& report : reports) {
        const bool taken = report.can_run && report.passed_over.empty() && first.empty();
        EXPECT_EQ(report.is_default, taken) << report.variant;
        EXPECT_EQ(report.because.empty(), report.can_run) << report.variant;
        EXPECT_TRUE(report.passed_over.empty() || (report.can_run && first.empty())) << report.variant;
        if (taken) first = report.variant;
        for (const Tunable& tunable : report.tunables) {
          EXPECT_EQ(std::count(tunable.values.begin(), tunable.values.end(), tunable.preferred), 1)
              << report.variant << " prefers a value of '" << tunable.name << "' that it does not offer";
        }
      }
      ASSERT_FALSE(first.empty()) << "no variant can run this problem";
      EXPECT_EQ(problem->prepare(device, {})->info().variant, first);
    }
  }

 private:
  const ProblemSet* set_;
  std::string device_;
};

void add_test(const std::string& suite, const std::string& name, Subject subject) {
  static std::map<std::string, int> tests_of_suite;
  const int number = tests_of_suite[suite]++;
  subject.twice = second_run_of() > 0 && number % second_run_of() == 0;
  testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [subject = std::move(subject)]() -> testing::Test* { return new OperatorTest(subject); });
}

void register_case(const std::string& operator_name, const std::string& device, const Case& problem) {
  if (problem.purpose() == Purpose::study || problem.purpose() == Purpose::quick_study) return;  // it checks for itself
  const bool benchmark = problem.purpose() == Purpose::benchmark;
  if (benchmark && problem.work().flops > kSlowestFlops) return;
  const bool slow = benchmark || problem.purpose() == Purpose::slow;
  for (const VariantReport& report : problem.explain(shared_device(device))) {
    const std::string suite =
        operator_name + "/" + name_for_tests(device) + "/" + report.variant + (slow ? "/slow" : "");
    const std::string name(problem.name());
    add_test(suite, name, {&problem, device, report.variant, {}});
    if (!report.can_run || !problem.tries_every_tuning()) continue;
    for (Tuning& tuning : conformance::all_combinations(report.tunables, kMostCombinations)) {
      std::string tuned = name + "_";
      for (const auto& [key, value] : tuning) tuned += "_" + key + "_" + std::to_string(value);
      add_test(suite, tuned, {&problem, device, report.variant, std::move(tuning)});
    }
  }
}

/// Can a pattern of GoogleTest's filter fit a test of the operator, by what it says before its first wildcard? If not,
/// its tests need not be listed, which takes every process that runs one test of the API longer than that test does.
bool may_be_asked_for(const std::string& operator_name) {
  const std::string filter = testing::GTEST_FLAG(filter);
  std::string wanted = filter.substr(0, filter.find('-'));
  if (wanted.empty()) wanted = "*";
  const std::string start = operator_name + "/";
  std::istringstream patterns(wanted);
  for (std::string pattern; std::getline(patterns, pattern, ':');) {
    const std::string literal = pattern.substr(0, pattern.find_first_of("*?")).substr(0, start.size());
    if (start.compare(0, literal.size(), literal) == 0) return true;
  }
  return false;
}

}  // namespace

void register_operator_tests() {
  for (const std::string& device : device_ids()) {
    for (const ProblemSet& set : conformance::problem_sets()) {
      if (!may_be_asked_for(set.operator_name)) continue;
      for (const auto& problem : set.cases) register_case(set.operator_name, device, *problem);
      const std::string suite = set.operator_name + "/" + name_for_tests(device);
      testing::RegisterTest(suite.c_str(), "default_is_first_that_can_run", nullptr, nullptr, __FILE__, __LINE__,
                            [&set, device]() -> testing::Test* { return new DefaultTest(set, device); });
    }
  }
}

}  // namespace tessera::testing_support
