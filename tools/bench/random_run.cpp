// Draws, measures, and tells.
#include "tools/bench/random_run.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "tools/bench/peers.h"
#include "tools/bench/problem_rounds.h"
#include "tools/bench/random_tables.h"
#include "tools/command.h"
#include "tools/output/progress.h"
#include "tools/peaks/device_peaks.h"
#include "tools/process/interrupt.h"
#include "tools/process/usage_error.h"
#include "tools/typed_problems.h"

namespace tessera::tool {

namespace {

constexpr const char* kNoPeaks = "--random does not compare with peaks";

/// A problem that was drawn, of one operator.
struct Drawn {
  const conformance::ProblemSet* set = nullptr;
  RandomProblem problem;
};

std::vector<const conformance::ProblemSet*> chosen_sets(const RandomRequest& request) {
  std::vector<const conformance::ProblemSet*> chosen;
  for (const conformance::ProblemSet& set : conformance::problem_sets()) {
    if (set.operator_name == request.operator_name) return {&set};
    if (request.operator_name == "all" && !problem_classes(set.operator_name).empty()) chosen.push_back(&set);
  }
  if (chosen.empty()) throw UsageError(fmt::format("there is no operator '{}'", request.operator_name));
  if (!request.classes.empty()) throw UsageError("--class names classes of one operator, but the operator is 'all'");
  return chosen;
}

/// The first of every class, then the second: a run that ends early has measured something of each.
std::vector<Drawn> draw(const RandomRequest& request) {
  std::vector<std::vector<Drawn>> columns;
  for (const conformance::ProblemSet* set : chosen_sets(request)) {
    for (const ProblemClass* of : chosen_classes(set->operator_name, request.classes)) {
      std::vector<Drawn>& column = columns.emplace_back();
      for (RandomProblem& problem : random_problems(*set, *of, request.count, request.seed, request.problem_limits))
        column.push_back({set, std::move(problem)});
    }
  }
  std::vector<Drawn> drawn;
  for (std::size_t i = 0; i < request.count; ++i) {
    for (std::vector<Drawn>& column : columns) drawn.push_back(std::move(column[i]));
  }
  return drawn;
}

class RandomRun {
 public:
  RandomRun(const RandomRequest& request, Measurer& measurer, std::ostream& text, Json& result)
      : request_(request), measurer_(measurer), text_(text), result_(result) {}

  int run() {
    const std::vector<Drawn> drawn = draw(request_);
    devices_ = open_devices(request_.devices, text_);
    result_["devices"] = devices_record(devices_.list, no_device_peaks(devices_.list, kNoPeaks));
    measure(drawn);
    result_["missing_peers"] = to_json(missing_);
    result_["random"] = Json::array();
    for (const RandomGroup& group : groups_)
      result_["random"].push_back(to_json(group, request_.seed, request_.problem_limits));
    text_ << random_tables({groups_.begin(), groups_.end()});
    text_ << notes_ << missing_peers_line(missing_);
    if (left_out_ > 0) text_ << fmt::format("{} problems were left out: the budget is spent\n", left_out_);
    const bool measured =
        std::any_of(groups_.begin(), groups_.end(), [](const RandomGroup& group) { return !group.problems.empty(); });
    return devices_.all_opened && measured && !failed_ ? kExitSuccess : kExitFailure;
  }

 private:
  void measure(const std::vector<Drawn>& drawn) {
    Progress progress(drawn.size() * devices_.list.size());
    progress.steps_are_alike();
    const auto start = std::chrono::steady_clock::now();
    std::size_t done = 0;
    try {
      for (const Drawn& one : drawn) {
        Selection selection;
        selection.operator_name = one.set->operator_name;
        selection.problems = {one.problem.text};
        const SelectedProblems problems(selection);
        const std::vector<Job> jobs = problems.jobs(selection, devices_.list, {conformance::Purpose::benchmark});
        for (const OpenDevice& device : devices_.list) {
          stop_if_interrupted();
          const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
          if (request_.budget_s > 0 && taken.count() >= request_.budget_s) {
            ++left_out_;
            continue;
          }
          progress.show(done++, fmt::format("{} {} {} {}", one.set->operator_name, device.name,
                                            one.problem.of_class->name, one.problem.text));
          measure_one(one, device, jobs);
        }
      }
    } catch (const Interrupted&) {
      // What is measured is kept; the caller learns of the interrupt by itself.
    }
  }

  void measure_one(const Drawn& one, const OpenDevice& device, std::vector<Job> jobs) {
    RandomGroup& group = group_of(one, device);
    std::erase_if(jobs, [&](const Job& job) { return job.device != &device; });
    note_missing(jobs);
    ProblemResult found = measure_problem(jobs, measurer_, request_.rounds);
    for (Json& record : found.records) {
      record["class"] = one.problem.of_class->name;
      if (record.at("status") == "failed")
        notes_ += fmt::format("FAILED  {} {} {} {}: {}\n", group.operator_name, device.name,
                              record.at("variant").get<std::string>(), one.problem.text,
                              record.at("reason").is_string() ? record.at("reason").get<std::string>() : "");
      result_["records"].push_back(std::move(record));
    }
    failed_ = failed_ || found.failed;
    if (!found.ratios) {
      ++group.without_default;
      return;
    }
    found.ratios->of_class = one.problem.of_class->name;
    found.ratios->number = one.problem.number;
    found.ratios->problem = one.problem.text;
    group.problems.push_back(*std::move(found.ratios));
  }

  RandomGroup& group_of(const Drawn& one, const OpenDevice& device) {
    for (RandomGroup& group : groups_) {
      if (group.operator_name == one.set->operator_name && group.device == device.name &&
          group.of_class == one.problem.of_class->name)
        return group;
    }
    groups_.push_back({.operator_name = one.set->operator_name,
                       .device = device.name,
                       .of_class = one.problem.of_class->name,
                       .asked = request_.count,
                       .problems = {}});
    return groups_.back();
  }

  /// Of each operator and device once: it asks for every case of the standard set.
  void note_missing(const std::vector<Job>& jobs) {
    if (jobs.empty()) return;
    const std::string place = jobs.front().set->operator_name + "/" + jobs.front().device->name;
    if (std::find(asked_.begin(), asked_.end(), place) != asked_.end()) return;
    asked_.push_back(place);
    for (MissingPeer& peer : missing_peers(jobs)) {
      const auto known = std::find_if(missing_.begin(), missing_.end(),
                                      [&](const MissingPeer& other) { return other.variant == peer.variant; });
      if (known == missing_.end()) {
        missing_.push_back(std::move(peer));
        continue;
      }
      for (const std::string& name : peer.devices) {
        if (std::find(known->devices.begin(), known->devices.end(), name) == known->devices.end())
          known->devices.push_back(name);
      }
    }
  }

  const RandomRequest& request_;
  Measurer& measurer_;
  std::ostream& text_;
  Json& result_;
  OpenDevices devices_;
  std::deque<RandomGroup> groups_;
  std::vector<std::string> asked_;
  std::vector<MissingPeer> missing_;
  std::string notes_;
  std::size_t left_out_ = 0;
  bool failed_ = false;
};

}  // namespace

int run_random(const RandomRequest& request, Measurer& measurer, std::ostream& text, Json& result) {
  return RandomRun(request, measurer, text, result).run();
}

}  // namespace tessera::tool
