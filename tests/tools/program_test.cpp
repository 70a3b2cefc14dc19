// The program as a user runs it: exit codes, what stands on which stream, and the JSON of `devices` and `verify`.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "program_run.h"

namespace {

using Json = nlohmann::json;
using tessera::testing_support::Outcome;
using tessera::testing_support::ProgramOnCpuTest;
using tessera::testing_support::ProgramTest;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_one_line_of_wrong_use(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.standard_output, "");
  EXPECT_EQ(std::count(outcome.standard_error.begin(), outcome.standard_error.end(), '\n'), 1)
      << outcome.standard_error;
  EXPECT_TRUE(outcome.standard_error.starts_with("tessera")) << outcome.standard_error;
  EXPECT_TRUE(contains(outcome.standard_error, "--help")) << outcome.standard_error;
}

TEST_F(ProgramTest, help_of_every_command_shows_an_example) {
  for (const char* arguments : {"--help", "devices --help", "verify --help", "bench --help", "explain --help"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    EXPECT_TRUE(contains(outcome.standard_output, "Example")) << outcome.standard_output;
    EXPECT_EQ(outcome.standard_error, "");
  }
}

TEST_F(ProgramTest, the_version_is_told_with_the_commit) {
  const Outcome outcome = run("--version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.standard_output.starts_with("tessera ")) << outcome.standard_output;
}

TEST_F(ProgramOnCpuTest, wrong_use_is_one_line_and_exit_code_2) {
  for (const char* arguments : {"",
                                "devics",
                                "devices --jsn x",
                                "verify gemmm",
                                "verify gemm --device gpu9",
                                "verify gemm --case no_such_case",
                                "verify gemm --device cpu:0 --variant no_such_variant",
                                "bench gemm --device cpu:0 --set tle=8",
                                "bench gemm --device cpu:0 --set tile=7",
                                "bench gemm --quick",
                                "bench gemmm --study",
                                "bench gemm --device cpu:0 --set tile",
                                "bench --time-limit -1",
                                "bench --min-time soon",
                                "bench --most-work -1",
                                "bench gemm --study --most-work 1",
                                "explain gemm",
                                "explain --problem m=1",
                                "explain gemm --device cpu:0 --problem m=2,n=3",
                                "explain gemm --device cpu:0 --problem m=2,n=3,k=-4",
                                "bench gemm --problem m=1,n=1,k=1 --case x",
                                "bench gemm --problem m=1,n=1,k=1 --study",
                                "verify --device cpu:0 --problem m=1,n=1,k=1"}) {
    SCOPED_TRACE(arguments);
    expect_one_line_of_wrong_use(run(arguments));
  }
}

TEST_F(ProgramTest, an_error_of_the_library_is_one_line_and_exit_code_1) {
  for (const char* arguments : {"verify gemm --device cpu:99", "devices --json /no/such/folder/file.json"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 1) << arguments;
    EXPECT_EQ(std::count(outcome.standard_error.begin(), outcome.standard_error.end(), '\n'), 1)
        << outcome.standard_error;
  }
}

TEST_F(ProgramOnCpuTest, devices_writes_json) {
  const Outcome outcome = run("devices --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_EQ(json.at("tool"), "tessera devices");
  EXPECT_TRUE(json.at("library").at("version").is_string());
  EXPECT_TRUE(json.at("library").at("commit").is_string());
  EXPECT_GE(json.at("machine").at("cores"), 1);
  ASSERT_FALSE(json.at("backends").empty());
  for (const Json& backend : json.at("backends")) {
    EXPECT_NE(backend.at("name"), "");
    EXPECT_NE(backend.at("reason"), "") << backend;
  }
  ASSERT_FALSE(json.at("devices").empty());
  for (const Json& device : json.at("devices")) {
    for (const char* field :
         {"id", "backend", "name", "vendor", "kind", "driver", "driver_version", "memory_total_bytes",
          "memory_free_bytes", "compute_units", "max_group_size", "local_memory_bytes", "has_float64", "has_float16",
          "unified_memory", "timer_resolution_s", "pci_address", "uuid", "same_card_as"}) {
      EXPECT_TRUE(device.contains(field)) << field;
    }
  }
}

/// The reason of a backend in `tessera devices --json -`; "" if its state is another.
std::string reason_of(const Json& devices, const std::string& name, const std::string& state) {
  for (const Json& backend : devices.at("backends")) {
    if (backend.at("name") == name && backend.at("state") == state) return backend.at("reason");
  }
  return "";
}

/// Which of the plug-ins that need a driver were built.
std::vector<std::string> built_backends(const Json& devices) {
  std::vector<std::string> built;
  for (const char* name : {"cuda", "opencl"}) {
    if (reason_of(devices, name, "not found").empty()) built.emplace_back(name);
  }
  return built;
}

TEST_F(ProgramTest, devices_says_which_driver_is_missing) {
  // Files that the loader finds first and that are no libraries hide the real ones, wherever those are installed.
  const std::filesystem::path folder = scratch.path("hidden");
  std::filesystem::create_directory(folder);
  for (const char* name : {"libcuda.so.1", "libcuda.so", "libOpenCL.so.1", "libOpenCL.so"}) {
    std::ofstream(folder / name) << std::string(4096, 'x');
  }
  const Outcome outcome = run("devices --json -", "LD_LIBRARY_PATH='" + folder.string() + "'");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  const std::vector<std::string> built = built_backends(json);
  if (built.empty()) GTEST_SKIP() << "neither the plug-in cuda nor opencl was built";
  for (const std::string& name : built) {
    const std::string reason = reason_of(json, name, "unavailable");
    const std::string library = name == "cuda" ? "libcuda.so.1" : "libOpenCL.so.1";
    EXPECT_TRUE(contains(reason, (folder / library).string() + ": invalid ELF header")) << name << ": " << reason;
    EXPECT_TRUE(contains(outcome.standard_error, name)) << outcome.standard_error;
  }
  for (const Json& device : json.at("devices")) EXPECT_EQ(device.at("backend"), "cpu_tbb") << device;
}

TEST_F(ProgramTest, a_loader_of_opencl_alone_is_no_device) {
  const Json all = Json::parse(run("devices --json -").standard_output);
  if (reason_of(all, "opencl", "ready").empty()) GTEST_SKIP() << "there is no OpenCL device to be hidden";
  const std::filesystem::path folder = scratch.path("vendors");
  std::filesystem::create_directory(folder);
  const Outcome outcome = run("devices --json -", "OCL_ICD_VENDORS='" + folder.string() + "/'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const std::string reason = reason_of(Json::parse(outcome.standard_output), "opencl", "unavailable");
  EXPECT_NE(reason, "") << outcome.standard_output;
  EXPECT_TRUE(contains(reason, "OpenCL")) << reason;
}

TEST_F(ProgramTest, a_backend_that_is_not_asked_for_is_disabled) {
  const Outcome outcome = run("devices --json -", "TESSERA_BACKENDS=cuda");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_TRUE(contains(reason_of(json, "opencl", "disabled"), "$TESSERA_BACKENDS"));
  EXPECT_TRUE(contains(reason_of(json, "cpu_tbb", "disabled"), "$TESSERA_BACKENDS"));
}

TEST_F(ProgramOnCpuTest, verify_passes_and_writes_every_record) {
  const Outcome outcome = run("verify gemm --device cpu:0 --case 'float32_m1*' --json result.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_output << outcome.standard_error;
  EXPECT_TRUE(contains(outcome.standard_output, " 0 failed")) << outcome.standard_output;
  EXPECT_EQ(outcome.standard_error, "");  // no progress: it is no terminal
  const Json json = Json::parse(scratch.read("result.json"));
  ASSERT_FALSE(json.at("records").empty());
  int passed = 0;
  for (const Json& record : json.at("records")) {
    EXPECT_EQ(record.at("operator"), "gemm");
    EXPECT_EQ(record.at("device"), "cpu:0");
    if (record.at("status") == "unsupported") continue;
    ++passed;
    EXPECT_EQ(record.at("status"), "passed") << record;
    EXPECT_LE(record.at("error").at("worst"), record.at("error").at("bound"));
  }
  EXPECT_GT(passed, 0);
}

TEST_F(ProgramOnCpuTest, a_problem_of_ones_own_is_explained_verified_and_measured) {
  const std::string problem = " gemm --device cpu:0 --problem m=5,7,n=3,k=2:8:*2,type=float64,transpose_b=1 ";
  const Outcome explained = run("explain" + problem + "--json explain.json");
  EXPECT_EQ(explained.exit_code, 0) << explained.standard_error;
  EXPECT_TRUE(contains(explained.standard_output, "yes, default")) << explained.standard_output;
  EXPECT_TRUE(contains(explained.standard_output, "float64_m7_n3_k8_tb")) << explained.standard_output;
  const Json answers = Json::parse(scratch.read("explain.json"))["records"];
  EXPECT_EQ(std::count_if(answers.begin(), answers.end(), [](const Json& one) { return one["is_default"] == true; }),
            6);

  const Outcome verified = run("verify" + problem + "--variant naive --json verify.json");
  EXPECT_EQ(verified.exit_code, 0) << verified.standard_output << verified.standard_error;
  EXPECT_EQ(Json::parse(scratch.read("verify.json"))["records"].size(), 6U);

  const Outcome measured = run("bench" + problem + "--variant naive --json bench.json --min-time 0 --warm-up 0");
  EXPECT_EQ(measured.exit_code, 0) << measured.standard_output << measured.standard_error;
  const Json records = Json::parse(scratch.read("bench.json"))["records"];
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[5]["problem"]["m"], 7);
  EXPECT_EQ(records[5]["problem"]["k"], 8);
}

TEST_F(ProgramOnCpuTest, a_problem_that_memory_cannot_hold_is_told_and_not_tried) {
  const Outcome outcome = run("verify gemm --device cpu:0 --variant naive --problem m=4000000,n=4000000,k=1");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.standard_output, "this machine's memory is")) << outcome.standard_output;
}

}  // namespace
