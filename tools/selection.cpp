// Turns names and patterns into devices, cases and variants; says clearly what is not there.
#include "tools/selection.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/tunings.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {

using conformance::Case;
using conformance::ProblemSet;
using conformance::Purpose;

namespace {

bool is_all(const std::vector<std::string>& names) {
  return names.empty() || std::find(names.begin(), names.end(), "all") != names.end();
}

std::vector<const ProblemSet*> chosen_sets(const std::string& name, const std::vector<ProblemSet>& sets) {
  std::vector<const ProblemSet*> chosen;
  std::vector<std::string> known;
  for (const ProblemSet& set : sets) {
    known.push_back(set.operator_name);
    if (name == "all" || name == set.operator_name) chosen.push_back(&set);
  }
  if (chosen.empty()) {
    throw UsageError(fmt::format("there is no operator '{}', there are: {}", name, fmt::join(known, ", ")));
  }
  return chosen;
}

/// The cases of one operator that the patterns name.
std::vector<const Case*> chosen_cases(const ProblemSet& set, const std::vector<std::string>& patterns,
                                      const std::vector<Purpose>& purposes, std::set<std::string>& unmatched) {
  std::vector<const Case*> chosen;
  for (const auto& problem : set.cases) {
    if (std::find(purposes.begin(), purposes.end(), problem->purpose()) == purposes.end()) continue;
    bool wanted = patterns.empty();
    for (const std::string& pattern : patterns) {
      if (!matches(pattern, problem->name())) continue;
      wanted = true;
      unmatched.erase(pattern);
    }
    if (wanted) chosen.push_back(problem.get());
  }
  return chosen;
}

/// What the jobs found while they were planned: which of the names typed exist at all.
struct Found {
  std::set<std::string> variants;
  std::map<std::string, std::set<std::int64_t>> tunables;
};

/// The settings that this variant takes; a value that it does not take makes `because`.
Tuning applicable(const Tuning& settings, const VariantReport& report, std::string& because) {
  Tuning tuning;
  for (const Tunable& tunable : report.tunables) {
    const auto setting = settings.find(tunable.name);
    if (setting == settings.end()) continue;
    tuning.insert(*setting);
    if (std::find(tunable.values.begin(), tunable.values.end(), setting->second) == tunable.values.end()) {
      because = fmt::format("{} of {} is {}, but must be one of {} here", tunable.name, report.variant, setting->second,
                            fmt::join(tunable.values, ", "));
    }
  }
  if (const Tunable* const second = because.empty() ? find_unpaired(report.tunables, tuning) : nullptr) {
    Tuning used = tuning;
    for (const Tunable& tunable : report.tunables) used.emplace(tunable.name, tunable.preferred);
    std::vector<std::string> pairs;
    for (const auto& [first, value] : second->pairs) pairs.push_back(fmt::format("{} x {}", first, value));
    because = fmt::format("{} x {} of {} is {} x {}, but must be one of {} here", second->paired_with, second->name,
                          report.variant, used.at(second->paired_with), used.at(second->name), fmt::join(pairs, ", "));
  }
  return tuning;
}

/// Does it name nothing but values that are used anyway?
bool is_preferred(const Tuning& tuning, const std::vector<Tunable>& tunables) {
  return std::all_of(tunables.begin(), tunables.end(), [&](const Tunable& tunable) {
    const auto named = tuning.find(tunable.name);
    return named == tuning.end() || named->second == tunable.preferred;
  });
}

/// The jobs of one case on one device.
void add_jobs(const Job& place, const Selection& selection, const Tuning& settings, Found& found,
              std::vector<Job>& jobs) {
  const bool all = is_all(selection.variants);
  std::set<std::string> missing(selection.variants.begin(), selection.variants.end());
  for (const VariantReport& report : place.problem->explain(place.device->device)) {
    found.variants.insert(report.variant);
    missing.erase(report.variant);
    if (!all &&
        std::find(selection.variants.begin(), selection.variants.end(), report.variant) == selection.variants.end()) {
      continue;
    }
    for (const Tunable& tunable : report.tunables) {
      found.tunables[tunable.name].insert(tunable.values.begin(), tunable.values.end());
    }
    Job job = place;
    job.variant = report.variant;
    job.is_default = report.is_default;
    if (!report.can_run) job.because = report.because;
    job.tuning = applicable(settings, report, job.because);
    // What programs get here, unless the command line says otherwise.
    const bool is_tuned = settings.empty() && report.is_default && report.tuned && report.tuned->because.empty();
    if (is_tuned) job.tuning = report.tuned->tuning;
    jobs.push_back(job);
    job.is_default = false;
    job.is_extra = true;
    if (!selection.every_tuning || !settings.empty() || !place.problem->tries_every_tuning()) continue;
    for (Tuning& tuning : conformance::each_value(report.tunables)) {
      if (!is_tuned && is_preferred(tuning, report.tunables)) continue;
      job.tuning = std::move(tuning);
      jobs.push_back(job);
    }
  }
  if (all) return;
  for (const std::string& variant : missing) {
    Job job = place;
    job.variant = variant;
    job.because = fmt::format("the backend {} has no variant '{}' of {}", place.device->info.backend, variant,
                              place.set->operator_name);
    jobs.push_back(std::move(job));
  }
}

void check_names(const Selection& selection, const Tuning& settings, const Found& found) {
  for (const std::string& variant : selection.variants) {
    if (variant != "all" && found.variants.count(variant) == 0) {
      throw UsageError(fmt::format("there is no variant '{}' of {} on the devices asked for, there are: {}", variant,
                                   selection.operator_name, fmt::join(found.variants, ", ")));
    }
  }
  for (const auto& [name, value] : settings) {
    const auto tunable = found.tunables.find(name);
    if (tunable == found.tunables.end()) {
      std::vector<std::string> known;
      for (const auto& entry : found.tunables) known.push_back(entry.first);
      throw UsageError(fmt::format("no variant asked for has a tunable '{}', there are: {}", name,
                                   known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
    if (tunable->second.count(value) == 0) {
      throw UsageError(fmt::format("{} is {}, but must be one of {}", name, value, fmt::join(tunable->second, ", ")));
    }
  }
}

}  // namespace

OpenDevices open_devices(const std::vector<std::string>& names, std::ostream& complaints) {
  const bool all = is_all(names);
  std::vector<std::string> wanted = names;
  if (all) {
    wanted.clear();
    for (const DeviceInfo& info : devices()) wanted.push_back(info.id);
    if (wanted.empty()) {
      throw Error(ErrorCode::unavailable, "there is no device on this machine; `tessera devices` says why");
    }
  }
  OpenDevices opened;
  for (const std::string& name : wanted) {
    try {
      Device device = open(name);
      DeviceInfo info = device.info();
      opened.list.push_back({name, std::move(device), std::move(info)});
    } catch (const Error& error) {
      if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
      if (!all) throw;
      complaints << fmt::format("FAILED  {} does not open: {}\n", name, error.sentence());
      opened.all_opened = false;
    }
  }
  return opened;
}

std::vector<Job> plan_jobs(const Selection& selection, const std::vector<ProblemSet>& sets,
                           const std::vector<OpenDevice>& devices, const std::vector<Purpose>& purposes) {
  const Tuning settings = parse_settings(selection.settings);
  std::set<std::string> unmatched(selection.cases.begin(), selection.cases.end());
  Found found;
  std::vector<Job> jobs;
  for (const OpenDevice& device : devices) {
    for (const ProblemSet* set : chosen_sets(selection.operator_name, sets)) {
      for (const Case* problem : chosen_cases(*set, selection.cases, purposes, unmatched)) {
        add_jobs({.device = &device, .set = set, .problem = problem}, selection, settings, found, jobs);
      }
    }
  }
  if (!unmatched.empty()) {
    throw UsageError(
        fmt::format("no case of {} that this command runs matches '{}'", selection.operator_name, *unmatched.begin()));
  }
  check_names(selection, settings, found);
  return jobs;
}

void keep_small(std::vector<Job>& jobs, double most_flops) {
  std::map<const ProblemSet*, double> least;
  for (const Job& job : jobs) {
    const double flops = job.problem->work().flops;
    const auto [place, is_new] = least.emplace(job.set, flops);
    if (!is_new) place->second = std::min(place->second, flops);
  }
  std::erase_if(jobs, [&](const Job& job) {
    const double flops = job.problem->work().flops;
    return flops > most_flops && flops > least.at(job.set);
  });
}

std::string command_line(std::string_view command, const Job& job) {
  std::string line = fmt::format("tessera {} {} --device '{}' --variant {} ", command, job.set->operator_name,
                                 job.device->name, job.variant);
  line += job.typed.empty() ? fmt::format("--case {}", job.problem->name()) : fmt::format("--problem {}", job.typed);
  for (const auto& [name, value] : job.tuning) line += fmt::format(" --set {}={}", name, value);
  return line;
}

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;  // the last * seen, and how far its letters reach
  std::size_t reach = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      reach = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++reach;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

Tuning parse_settings(const std::vector<std::string>& settings) {
  Tuning tuning;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    std::int64_t value = 0;
    const char* end = setting.data() + setting.size();
    bool good = equals != std::string::npos && equals > 0;
    if (good) {
      const auto parsed = std::from_chars(setting.data() + equals + 1, end, value);
      good = parsed.ec == std::errc() && parsed.ptr == end;
    }
    if (!good) throw UsageError(fmt::format("--set is '{}', but must be a name and an integer: tile=8", setting));
    if (!tuning.emplace(setting.substr(0, equals), value).second) {
      throw UsageError(fmt::format("--set names '{}' twice", setting.substr(0, equals)));
    }
  }
  return tuning;
}

}  // namespace tessera::tool
