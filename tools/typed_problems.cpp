// Words, lists and ranges as problems, and problems as cases.
#include "tools/typed_problems.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tools/output/machine.h"
#include "tools/output/table.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {

using conformance::ProblemSet;
using conformance::ProblemWords;

namespace {

constexpr std::size_t kMostProblems = 10000;
/// Of a problem's operands: inputs, results, what is expected of them and what was downloaded lie in the host's memory.
constexpr double kCopiesInMemory = 4;

/// A field and all its values.
struct Sweep {
  std::string name;
  std::vector<std::string> values;
};

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void refuse_range(const std::string& name, const std::string& word) {
  throw UsageError(
      fmt::format("{} of --problem is '{}', but a range must be written first:last, first:last:step or "
                  "first:last:*factor, of integers that rise: 256:4096:*2",
                  name, word));
}

/// The values of one word: itself, or those of a range.
void add_values(const std::string& name, const std::string& word, std::vector<std::string>& values) {
  if (word.find(':') == std::string::npos) {
    values.push_back(word);
    return;
  }
  std::vector<std::string> parts;
  std::istringstream text(word);
  for (std::string part; std::getline(text, part, ':');) parts.push_back(part);
  if (word.back() == ':' || parts.size() < 2 || parts.size() > 3) refuse_range(name, word);
  const bool multiplies = parts.size() == 3 && parts[2].starts_with('*');
  const auto first = integer(parts[0]);
  const auto last = integer(parts[1]);
  const auto step = parts.size() == 3 ? integer(std::string_view(parts[2]).substr(multiplies ? 1 : 0)) : 1;
  if (!first || !last || !step || *first > *last || *step < (multiplies ? 2 : 1) || (multiplies && *first < 1))
    refuse_range(name, word);
  std::int64_t value = *first;
  for (;;) {
    values.push_back(fmt::format("{}", value));
    if (values.size() > kMostProblems)
      throw UsageError(fmt::format("{} of --problem has more than {} values", name, kMostProblems));
    const bool overflows =
        multiplies ? __builtin_mul_overflow(value, *step, &value) : __builtin_add_overflow(value, *step, &value);
    if (overflows || value > *last) return;
  }
}

std::vector<Sweep> parse_fields(const std::string& text) {
  std::vector<Sweep> fields;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const std::size_t equals = item.find('=');
    if (equals != std::string::npos) fields.push_back({item.substr(0, equals), {}});
    const std::string word = equals == std::string::npos ? item : item.substr(equals + 1);
    if (fields.empty() || fields.back().name.empty() || word.empty())
      throw UsageError(
          fmt::format("--problem is '{}', but must be fields and values: m=1000,n=777,k=512,type=float64", text));
    add_values(fields.back().name, word, fields.back().values);
  }
  if (fields.empty() || text.back() == ',')
    throw UsageError(fmt::format("--problem is '{}', but must be fields and values: m=1000,n=777,k=512", text));
  return fields;
}

/// "", or why this machine cannot hold it.
std::string why_too_large(const conformance::Case& problem) {
  static const std::uint64_t memory = this_machine().memory_bytes;
  const double needed = kCopiesInMemory * problem.work().bytes;
  if (memory == 0 || needed <= static_cast<double>(memory)) return "";
  return fmt::format("operands, reference and copies need about {}, but this machine's memory is {}",
                     needed < 1e18 ? format_bytes(static_cast<std::uint64_t>(needed)) : fmt::format("{:g} B", needed),
                     format_bytes(memory));
}

}  // namespace

std::string problem_text(const ProblemWords& words) {
  std::string text;
  for (const auto& [name, value] : words) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  return text;
}

std::vector<ProblemWords> parse_problem(const std::string& text) {
  const std::vector<Sweep> fields = parse_fields(text);
  std::size_t count = 1;
  for (const Sweep& field : fields) {
    count *= field.values.size();
    if (count > kMostProblems)
      throw UsageError(fmt::format("--problem '{}' describes more than {} problems", text, kMostProblems));
  }
  std::vector<ProblemWords> problems(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
      problems[i].emplace_back(field->name, field->values[rest % field->values.size()]);
      rest /= field->values.size();
    }
    std::reverse(problems[i].begin(), problems[i].end());
  }
  return problems;
}

SelectedProblems::SelectedProblems(const Selection& selection) {
  if (selection.problems.empty()) return;
  const std::vector<ProblemSet>& sets = conformance::problem_sets();
  const auto set = std::find_if(sets.begin(), sets.end(),
                                [&](const ProblemSet& one) { return one.operator_name == selection.operator_name; });
  if (set == sets.end())
    throw UsageError(fmt::format("--problem describes a problem of one operator, but the operator is '{}'",
                                 selection.operator_name));
  ProblemSet& typed = typed_.emplace_back();
  typed.operator_name = set->operator_name;
  for (const std::string& text : selection.problems) {
    for (const ProblemWords& words : parse_problem(text)) {
      try {
        typed.cases.push_back(set->make_case(words));
      } catch (const Error& error) {
        throw UsageError(error.sentence());
      }
      texts_.emplace(typed.cases.back().get(), problem_text(words));
    }
  }
}

std::vector<Job> SelectedProblems::jobs(const Selection& selection, const std::vector<OpenDevice>& devices,
                                        const std::vector<conformance::Purpose>& purposes) const {
  if (typed_.empty()) return plan_jobs(selection, conformance::problem_sets(), devices, purposes);
  std::vector<Job> jobs;
  try {
    jobs = plan_jobs(selection, typed_, devices, {conformance::Purpose::benchmark});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
    throw;
  }
  for (Job& job : jobs) {
    job.typed = texts_.at(job.problem);
    if (job.because.empty()) job.because = why_too_large(*job.problem);
  }
  return jobs;
}

std::vector<const conformance::Case*> SelectedProblems::typed() const {
  std::vector<const conformance::Case*> cases;
  for (const ProblemSet& set : typed_) {
    for (const auto& problem : set.cases) cases.push_back(problem.get());
  }
  return cases;
}

}  // namespace tessera::tool
