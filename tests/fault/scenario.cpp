// Runs the steps. One whose queue fails leaves a new one to the next.
#include "fault/scenario.h"

#include <deque>
#include <exception>
#include <new>
#include <utility>

#include "fault/scenario_steps.h"

namespace tessera::fault {

namespace {

/// Never destroyed, as all that a queue borrows here: see run_scenario().
const std::vector<float>& small_numbers() {
  static const auto* const kept = [] {
    auto* numbers = new std::vector<float>(1024);
    for (std::size_t i = 0; i < numbers->size(); ++i) (*numbers)[i] = static_cast<float>(i % 17) - 8.0F;
    return numbers;
  }();
  return *kept;
}

void tell_failure(const ScenarioBench& bench) {
  if (bench.options.on_failure) bench.options.on_failure();
}

void take(ScenarioReport& report, const ScenarioStep& step, ScenarioBench& bench) {
  const std::string place = step.name + ": ";
  try {
    if (step.run(bench)) {
      ++report.right;
      return;
    }
    report.wrong.push_back(place + "a wrong result without an error");
  } catch (const Error& error) {
    tell_failure(bench);
    report.errors.push_back(place + error.what());
  } catch (const std::bad_alloc& error) {
    tell_failure(bench);
    report.exhausted.push_back(place + error.what());
  } catch (const std::exception& error) {
    tell_failure(bench);
    report.foreign.push_back(place + error.what());
  } catch (...) {
    tell_failure(bench);
    report.foreign.push_back(place + "something that is no std::exception");
  }
  bench.queue.reset();  // the next step makes a new one
}

void run_steps(ScenarioReport& report, ScenarioBench& bench, const std::string& device) {
  take(report, {"open", [&](ScenarioBench& b) { return b.device.emplace(open(device)).id() == device; }}, bench);
  if (!bench.device) return;
  std::vector<ScenarioStep> steps = shared_steps(bench.options);
  for (const ScenarioStep& step : bench.options.own_steps) steps.push_back(step);
  for (const ScenarioStep& step : steps) {
    if (!bench.queue)
      take(report, {"queue", [](ScenarioBench& b) { return b.queue.emplace(*b.device).core() != nullptr; }}, bench);
    if (bench.queue) take(report, step, bench);
  }
}

}  // namespace

std::string ScenarioReport::text() const {
  std::string text = std::to_string(right) + " steps right";
  for (const auto& [title, lines] : {std::pair{"error", &errors}, std::pair{"WRONG", &wrong},
                                     std::pair{"BAD_ALLOC", &exhausted}, std::pair{"FOREIGN", &foreign}}) {
    for (const std::string& line : *lines) text += std::string("\n  ") + title + ": " + line;
  }
  return text;
}

std::span<float> borrowed_memory(std::size_t count) {
  static auto& kept = *new std::deque<std::vector<float>>;
  return kept.emplace_back(count);
}

ScenarioReport run_scenario(const std::string& device, const ScenarioOptions& options) {
  ScenarioReport report;
  ScenarioBench bench{.options = options, .numbers = small_numbers()};
  run_steps(report, bench, device);
  return report;
}

}  // namespace tessera::fault
