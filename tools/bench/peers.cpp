// A peer is missing where its library is: then it refuses every problem, and the refusal that names no operator is the
// library's own.
#include "tools/bench/peers.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/bench/bench_record.h"

namespace tessera::tool {

namespace {

struct Remedy {
  std::string_view variant;
  std::string_view how;
};
/// Packages of Debian and Ubuntu, where they have one.
constexpr std::array<Remedy, 7> kRemedies{{
    {"vendor_onednn", "apt-get install libdnnl3, or libdnnl2"},
    {"vendor_blis", "apt-get install libblis4-pthread"},
    {"vendor_openblas", "apt-get install libopenblas0-pthread"},
    {"vendor_opencv", "apt-get install libopencv-imgproc-dev, and build again"},
    {"vendor_clblast", "apt-get install libclblast1, or from github.com/CNugteren/CLBlast"},
    {"vendor_cublas", "libcublas of NVIDIA's CUDA toolkit 12 or 13"},
    {"vendor_cudnn", "NVIDIA's cuDNN 9; a folder of its own goes into LD_LIBRARY_PATH"},
}};

/// What explain() says of a peer over several problems.
struct Answers {
  bool can_run = false;
  std::string because;  ///< the library's own refusal, or else the first one
  bool is_of_library = false;
};

/// The cases by which a peer is judged: the standard set, or what the jobs themselves ask for.
std::vector<const conformance::Case*> cases_of(const std::string& operator_name, const std::vector<Job>& jobs) {
  std::vector<const conformance::Case*> cases;
  for (const conformance::ProblemSet& set : conformance::problem_sets()) {
    for (const auto& problem : set.cases) {
      if (set.operator_name == operator_name && problem->purpose() == conformance::Purpose::benchmark)
        cases.push_back(problem.get());
    }
  }
  for (const Job& job : jobs) {
    if (cases.empty() && job.set->operator_name == operator_name) return {job.problem};
  }
  return cases;
}

void ask(const OpenDevice& device, const std::string& operator_name, const conformance::Case& problem,
         std::map<std::string, Answers>& answers) {
  for (const VariantReport& report : problem.explain(device.device)) {
    if (!is_vendor(report.variant)) continue;
    Answers& answer = answers[report.variant];
    answer.can_run = answer.can_run || report.can_run;
    if (report.can_run || answer.is_of_library) continue;
    answer.is_of_library = report.because.find(operator_name) == std::string::npos;
    if (answer.is_of_library || answer.because.empty()) answer.because = report.because;
  }
}

std::string remedy_of(std::string_view variant) {
  for (const Remedy& remedy : kRemedies) {
    if (remedy.variant == variant) return std::string(remedy.how);
  }
  return {};
}

}  // namespace

std::vector<MissingPeer> missing_peers(const std::vector<Job>& jobs) {
  std::vector<MissingPeer> missing;
  std::set<std::pair<const OpenDevice*, std::string>> places;
  for (const Job& job : jobs) places.emplace(job.device, job.set->operator_name);
  std::map<const OpenDevice*, std::map<std::string, Answers>> by_device;
  for (const auto& [device, operator_name] : places) {
    for (const conformance::Case* problem : cases_of(operator_name, jobs))
      ask(*device, operator_name, *problem, by_device[device]);
  }
  for (const auto& [device, answers] : by_device) {
    for (const auto& [variant, answer] : answers) {
      if (answer.can_run) continue;
      auto peer = std::find_if(missing.begin(), missing.end(),
                               [&, &name = variant](const MissingPeer& known) { return known.variant == name; });
      if (peer == missing.end())
        peer = missing.insert(peer, {.variant = variant,
                                     .devices = {},
                                     .because = answer.because,
                                     .remedy = answer.is_of_library ? remedy_of(variant) : ""});
      peer->devices.push_back(device->name);
    }
  }
  std::sort(missing.begin(), missing.end(),
            [](const MissingPeer& a, const MissingPeer& b) { return a.variant < b.variant; });
  for (MissingPeer& peer : missing) std::sort(peer.devices.begin(), peer.devices.end());
  return missing;
}

std::string missing_peers_line(const std::vector<MissingPeer>& peers) {
  if (peers.empty()) return {};
  std::vector<std::string> words;
  for (const MissingPeer& peer : peers)
    words.push_back(fmt::format("{} ({})", peer.variant, peer.remedy.empty() ? peer.because : peer.remedy));
  return fmt::format("not compared with, because they are not on this machine: {}\n", fmt::join(words, "; "));
}

Json to_json(const std::vector<MissingPeer>& peers) {
  Json json = Json::array();
  for (const MissingPeer& peer : peers) {
    json.push_back({{"variant", peer.variant},
                    {"devices", peer.devices},
                    {"reason", peer.because},
                    {"remedy", peer.remedy.empty() ? Json() : Json(peer.remedy)}});
  }
  return json;
}

}  // namespace tessera::tool
