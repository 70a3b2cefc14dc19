// Wrong variants and tuning values of any operator. Which variants and tunables there are is what explain() says, so
// that this holds for every backend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "each_device.h"

namespace tessera::testing_support {

/// The words of a list, as parts that a sentence must have.
inline std::vector<std::string> numbers(const std::vector<std::int64_t>& values) {
  std::vector<std::string> words;
  for (const std::int64_t value : values) words.push_back(std::to_string(value));
  return words;
}

/// Every variant of the problem refuses, by its name, what it does not offer. At least one variant must be able to run.
template <class Problem>
void expect_wrong_options_refused(const Problem& problem, const Device& device, const std::string& id) {
  const auto make = [&](const KernelOptions& options) {
    return refusal_of([&] { static_cast<void>(device.kernel(problem, options)); });
  };
  const std::vector<VariantReport> reports = explain(problem, device);
  ASSERT_FALSE(reports.empty()) << id << " offers no variant";
  std::vector<std::string> offered{"'no_such_variant'", id};
  for (const VariantReport& report : reports) offered.push_back(report.variant);
  expect_refused(make({.variant = "no_such_variant"}), offered);

  int asked = 0;
  for (const VariantReport& report : reports) {
    SCOPED_TRACE(report.variant);
    std::string capital = report.variant;
    capital.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(capital.front())));
    expect_refused(make({.variant = capital}), {"'" + capital + "'", report.variant});
    if (!report.can_run) continue;
    ++asked;
    expect_refused(make({.variant = report.variant, .tuning = {{"no_such_name", 16}}}),
                   {"'no_such_name'", report.variant, id});
    for (const Tunable& tunable : report.tunables) {
      const std::int64_t largest = *std::max_element(tunable.values.begin(), tunable.values.end());
      for (const std::int64_t value : {std::int64_t{-1}, largest + 1, std::int64_t{1} << 40}) {
        std::vector<std::string> parts = numbers(tunable.values);
        parts.insert(parts.end(), {"'" + tunable.name + "'", std::to_string(value), id});
        expect_refused(make({.variant = report.variant, .tuning = {{tunable.name, value}}}), parts);
      }
    }
  }
  EXPECT_GT(asked, 0) << "no variant can run";
}

}  // namespace tessera::testing_support
