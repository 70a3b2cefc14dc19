// `tessera tune` as a user runs it, on each device that may be here: what it writes, and who uses it and who does not.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tessera/tessera.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "program_run.h"

namespace {

using Json = nlohmann::json;
using tessera::testing_support::Outcome;

constexpr const char* kHere = "TESSERA_DATA_DIR=\"$PWD/data\"";
constexpr const char* kProblem = " gemm --problem m=90,n=70,k=110 ";
constexpr tessera::Gemm kGemm{.m = 90, .n = 70, .k = 110};

/// A variable of this process, set back at the end.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_.empty() ? ::unsetenv(name_) : ::setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

class TuneProgramTest : public tessera::testing_support::ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const Outcome devices = run("devices");
    ASSERT_EQ(devices.exit_code, 0) << devices.standard_error;
    if (devices.standard_output.find(device()) == std::string::npos) GTEST_SKIP() << device() << " is not here";
  }
  [[nodiscard]] static std::string device() { return GetParam(); }
  [[nodiscard]] std::string file() const { return scratch.path("data/tuning/results.jsonl"); }
  [[nodiscard]] std::vector<Json> lines() const {
    std::istringstream text(scratch.read("data/tuning/results.jsonl"));
    std::vector<Json> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  void tune(const std::string& options) const {
    const Outcome outcome = run("tune" + std::string(kProblem) + "--device " + device() + " " + options, kHere);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_output << outcome.standard_error;
  }
  /// The records of explain, by variant.
  [[nodiscard]] Json explained(const std::string& variables = kHere) const {
    const Outcome outcome = run("explain" + std::string(kProblem) + "--device " + device() + " --json -", variables);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    Json rows;
    const Json answer = Json::parse(outcome.standard_output);
    for (const Json& row : answer.at("records")) rows[row.at("variant").get<std::string>()] = row;
    return rows;
  }
  /// Writes what no search needs to find: that the last variant that can run beats the default, whatever this machine
  /// does meanwhile. Returns its name.
  [[nodiscard]] std::string let_the_last_variant_win() const {
    Json choice;
    for (const Json& line : lines()) {
      if (line.at("verdict") == "faster" || line.at("verdict") == "not_faster") choice = line;
    }
    std::string winner;
    for (const auto& report : tessera::explain(kGemm, tessera::open(device()))) {
      if (!report.can_run || report.is_shipped_default) continue;
      winner = report.variant;
      choice["tuning"] = Json::object();
      for (const auto& tunable : report.tunables) choice["tuning"][tunable.name] = tunable.preferred;
    }
    choice["verdict"] = "faster";
    choice["variant"] = winner;
    choice["measured_s"] = 1e-9;
    std::ofstream(file()) << choice.dump() << "\n"
                          << "{\"damaged\n";
    return winner;
  }
};

TEST_P(TuneProgramTest, writes_what_it_found_with_its_whole_key) {
  ASSERT_NO_FATAL_FAILURE(tune("--budget 6s --json tuned.json"));
  const Json json = Json::parse(scratch.read("tuned.json"));
  ASSERT_EQ(json.at("records").size(), 1U);
  const Json& record = json.at("records")[0];
  EXPECT_EQ(record.at("problem").at("n"), 70);
  EXPECT_TRUE(record.at("is_kept"));
  ASSERT_FALSE(record.at("candidates").empty());
  EXPECT_EQ(record.at("candidates")[0].at("variant"), record.at("default_variant"));
  for (const Json& candidate : record.at("candidates")) {
    if (candidate.at("status") != "right") continue;
    EXPECT_GT(candidate.at("device_time_s"), 0);
    EXPECT_EQ(candidate.at("right_at").size(), 3U) << candidate;
  }
  ASSERT_EQ(lines().size(), 1U);
  const Json line = lines()[0];
  EXPECT_EQ(line.at("operator"), "gemm");
  EXPECT_EQ(line.at("class"), record.at("class"));
  EXPECT_EQ(line.at("verdict"), record.at("status"));
  EXPECT_EQ(line.at("default_variant"), record.at("default_variant"));
  EXPECT_EQ(line.at("library"), tessera::version());
  EXPECT_EQ(line.at("kernels").get<std::string>().size(), 40U) << "the build id of the plug-in";
  EXPECT_NE(line.at("device").get<std::string>().find(tessera::open(device()).info().name), std::string::npos);
  EXPECT_FALSE(line.at("driver").get<std::string>().empty());

  const Json rows = explained();
  const Json& chosen = rows.at(line.at("variant").get<std::string>());
  EXPECT_TRUE(chosen.at("is_default"));
  EXPECT_EQ(chosen.at("tuned").at("tuning"), line.at("tuning"));
  EXPECT_EQ(chosen.at("tuned").at("not_used_because").is_null(), line.at("verdict") == "faster");
}

TEST_P(TuneProgramTest, kernels_take_it_and_options_and_the_switch_do_not) {
  ASSERT_NO_FATAL_FAILURE(tune("--budget 2s"));
  const std::string winner = let_the_last_variant_win();
  ASSERT_FALSE(winner.empty()) << "one variant alone";
  const Json rows = explained();
  EXPECT_TRUE(rows.at(winner).at("is_default"));
  EXPECT_FALSE(rows.at(winner).at("is_shipped_default"));
  const Outcome told = run("explain" + std::string(kProblem) + "--device " + device(), kHere);
  EXPECT_NE(told.standard_output.find(winner + ": tuned on "), std::string::npos) << told.standard_output;
  EXPECT_NE(told.standard_output.find("used, from "), std::string::npos) << told.standard_output;
  EXPECT_NE(told.standard_output.find("line 2 is damaged"), std::string::npos) << told.standard_output;
  const Json off = explained(std::string(kHere) + " TESSERA_TUNING=off");
  EXPECT_FALSE(off.at(winner).at("is_default"));
  EXPECT_TRUE(off.at(winner).at("tuned").is_null());

  const Variable folder("TESSERA_DATA_DIR", scratch.path("data"));
  const tessera::Device device = tessera::open(TuneProgramTest::device());
  const auto kernel = device.kernel(kGemm);
  EXPECT_EQ(kernel.info().variant, winner);
  EXPECT_NE(kernel.info().chosen_because.find(file()), std::string::npos) << kernel.info().chosen_because;
  std::string shipped;
  for (const auto& [name, row] : rows.items()) {
    if (row.at("is_shipped_default") == true) shipped = name;
  }
  EXPECT_EQ(device.kernel(kGemm, {.variant = shipped}).info().variant, shipped);
  const Variable off_here("TESSERA_TUNING", "off");
  EXPECT_EQ(device.kernel(kGemm).info().variant, shipped);
}

TEST_P(TuneProgramTest, a_site_file_forbids_and_forces) {
  const auto write = [&](const std::string& text) { std::ofstream(scratch.path("site.jsonl")) << text; };
  const std::string variables = std::string(kHere) + " TESSERA_SITE_FILE=\"$PWD/site.jsonl\"";
  write(R"({"action":"forbid","operator":"gemm","variant":"naive","device":")" + device() +
        "\",\"because\":\"it is slow\"}\n");
  const Json rows = explained(variables);
  EXPECT_FALSE(rows.at("naive").at("can_run"));
  EXPECT_NE(rows.at("naive").at("because").get<std::string>().find("forbids it: it is slow"), std::string::npos);
  const Outcome outcome =
      run("tune" + std::string(kProblem) + "--device " + device() + " --budget 1s --dry-run --json -", variables);
  const Json tuned = Json::parse(outcome.standard_output);
  for (const Json& candidate : tuned.at("records")[0].at("candidates")) EXPECT_NE(candidate.at("variant"), "naive");
  write("{\"action\":\"force\",\"operator\":\"gemm\",\"variant\":\"naive\",\"because\":\"policy\"}\n");
  EXPECT_TRUE(explained(variables).at("naive").at("is_default"));
  write("{\"action\":\"force\"\n");
  const Outcome refused = run("explain" + std::string(kProblem) + "--device " + device(), variables);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.standard_error.find("is not right in line 1"), std::string::npos) << refused.standard_error;
}

TEST_P(TuneProgramTest, a_stream_takes_what_ships_where_slabs_cannot_have_what_a_file_chose) {
  std::ofstream(scratch.path("site.jsonl"))
      << R"({"action":"force","operator":"kernel_regression","variant":"naive","because":"policy"})"
      << "\n";
  const Variable site("TESSERA_SITE_FILE", scratch.path("site.jsonl"));
  const tessera::Device device = tessera::open(TuneProgramTest::device());
  const tessera::KernelRegression problem{.training_rows = 40000, .columns = 20, .queries = 5};
  const std::vector<float> training(40000 * 20, 1.0F);
  const std::vector<float> targets(40000, 3.0F);
  const std::vector<float> queries(5 * 20, 1.0F);
  std::vector<float> values(5);
  const tessera::KernelRegression::HostOperands operands{
      .queries = queries, .training = training, .targets = targets, .values = values};
  EXPECT_EQ(tessera::stream(device, problem, operands).kernel.variant, "naive") << "in one piece";
  const tessera::StreamReport report = tessera::stream(device, problem, operands, {.memory_bytes = 2 << 20});
  EXPECT_GT(report.slabs.size(), 1U);
  EXPECT_EQ(report.kernel.variant, "fused");
  EXPECT_EQ(values, std::vector<float>(5, 3.0F));
  // What the program itself forces is obeyed or refused.
  EXPECT_THROW(static_cast<void>(tessera::stream(device, problem, operands,
                                                 {.kernel = {.variant = "naive"}, .memory_bytes = 2 << 20})),
               tessera::Error);
}

TEST_P(TuneProgramTest, a_dry_run_leaves_nothing_and_bad_arguments_are_refused) {
  const std::string arguments = "tune" + std::string(kProblem) + "--device " + device();
  EXPECT_NE(run(arguments + " --budget 1s --dry-run", kHere).standard_output.find("default"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch.path("data")));
  EXPECT_EQ(run(arguments + " --budget soon", kHere).exit_code, 2);
  EXPECT_EQ(run(arguments + " --case small", kHere).exit_code, 2);
  EXPECT_EQ(run("tune --device " + device(), kHere).exit_code, 2);
  const Outcome relative = run(arguments + " --budget 1s", "TESSERA_DATA_DIR=here");
  EXPECT_NE(relative.exit_code, 0);
  EXPECT_NE(relative.standard_error.find("must be an absolute path"), std::string::npos) << relative.standard_error;
}

INSTANTIATE_TEST_SUITE_P(Devices, TuneProgramTest, testing::Values("cpu:0", "opencl:0"),
                         [](const auto& device) { return std::string(device.param).substr(0, 3); });

}  // namespace
