// The program as a user runs it: exit codes, what stands on which stream, and the JSON.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;

struct Outcome {
  int exit_code = -1;
  std::string standard_output;
  std::string standard_error;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) /
         (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "_" + name);
}

/// Runs the program with arguments as the shell splits them, and with variables set before it.
Outcome tessera(const std::string& arguments, const std::string& variables = "") {
  const auto output = temporary("stdout");
  const auto error = temporary("stderr");
  const std::string line = variables + " '" TESSERA_TOOL_PATH "' " + arguments + " >'" + output.string() + "' 2>'" +
                           error.string() + "' </dev/null";
  const int status = std::system(line.c_str());
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(output), read(error)};
  std::filesystem::remove(output);
  std::filesystem::remove(error);
  return outcome;
}

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

/// For the tests that need cpu:0.
class OnTheCpu : public testing::Test {
 protected:
  void SetUp() override {
    for (const Json& backend : Json::parse(tessera("devices --json -").standard_output).at("backends")) {
      if (backend.at("name") == "cpu_tbb" && backend.at("state") != "ready") GTEST_SKIP() << backend.at("reason");
    }
  }
};
using WrongUse = OnTheCpu;
using Devices = OnTheCpu;
using Verify = OnTheCpu;
using Bench = OnTheCpu;

TEST(Help, OfEveryCommandShowsAnExample) {
  for (const char* arguments : {"--help", "devices --help", "verify --help", "bench --help"}) {
    const Outcome outcome = tessera(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    EXPECT_TRUE(contains(outcome.standard_output, "Example")) << outcome.standard_output;
    EXPECT_EQ(outcome.standard_error, "");
  }
}

TEST(Version, IsToldWithTheCommit) {
  const Outcome outcome = tessera("--version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.standard_output.starts_with("tessera ")) << outcome.standard_output;
}

TEST_F(WrongUse, IsOneLineAndExitCode2) {
  for (const char* arguments :
       {"", "devics", "devices --jsn x", "verify gemmm", "verify gemm --device gpu9", "verify gemm --case no_such_case",
        "verify gemm --device cpu:0 --variant no_such_variant", "bench gemm --device cpu:0 --set tle=8",
        "bench gemm --device cpu:0 --set tile=7", "bench gemm --quick", "bench gemmm --study",
        "bench gemm --device cpu:0 --set tile", "bench --time-limit -1", "bench --min-time soon"}) {
    SCOPED_TRACE(arguments);
    expect_one_line_of_wrong_use(tessera(arguments));
  }
}

TEST(LibraryError, IsOneLineAndExitCode1) {
  for (const char* arguments : {"verify gemm --device cpu:99", "devices --json /no/such/folder/file.json"}) {
    const Outcome outcome = tessera(arguments);
    EXPECT_EQ(outcome.exit_code, 1) << arguments;
    EXPECT_EQ(std::count(outcome.standard_error.begin(), outcome.standard_error.end(), '\n'), 1)
        << outcome.standard_error;
  }
}

TEST_F(Devices, WritesJson) {
  const Outcome outcome = tessera("devices --json -");
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
    if (reason_of(devices, name, "not_found").empty()) built.emplace_back(name);
  }
  return built;
}

TEST(WithoutDrivers, DevicesSaysWhatIsMissing) {
  // Files that the loader finds first and that are no libraries hide the real ones, wherever those are installed.
  const auto folder = temporary("hidden");
  std::filesystem::create_directory(folder);
  for (const char* name : {"libcuda.so.1", "libcuda.so", "libOpenCL.so.1", "libOpenCL.so"}) {
    std::ofstream(folder / name) << std::string(4096, 'x');
  }
  const Outcome outcome = tessera("devices --json -", "LD_LIBRARY_PATH='" + folder.string() + "'");
  std::filesystem::remove_all(folder);
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

TEST(WithoutDrivers, ALoaderOfOpenclAloneIsNoDevice) {
  const Json all = Json::parse(tessera("devices --json -").standard_output);
  if (reason_of(all, "opencl", "ready").empty()) GTEST_SKIP() << "there is no OpenCL device to be hidden";
  const auto folder = temporary("vendors");
  std::filesystem::create_directory(folder);
  const Outcome outcome = tessera("devices --json -", "OCL_ICD_VENDORS='" + folder.string() + "/'");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const std::string reason = reason_of(Json::parse(outcome.standard_output), "opencl", "unavailable");
  EXPECT_NE(reason, "") << outcome.standard_output;
  EXPECT_TRUE(contains(reason, "OpenCL")) << reason;
}

TEST(WithoutDrivers, ABackendThatIsNotAskedForIsDisabled) {
  const Outcome outcome = tessera("devices --json -", "TESSERA_BACKENDS=cuda");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_TRUE(contains(reason_of(json, "opencl", "disabled"), "$TESSERA_BACKENDS"));
  EXPECT_TRUE(contains(reason_of(json, "cpu_tbb", "disabled"), "$TESSERA_BACKENDS"));
}

TEST_F(Verify, PassesOnTheCpuAndWritesEveryRecord) {
  const auto path = temporary("result.json");
  const Outcome outcome = tessera("verify gemm --device cpu:0 --case 'float32_m1*' --json '" + path.string() + "'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_output << outcome.standard_error;
  EXPECT_TRUE(contains(outcome.standard_output, " 0 failed")) << outcome.standard_output;
  EXPECT_EQ(outcome.standard_error, "");  // no progress: it is no terminal
  const Json json = Json::parse(read(path));
  std::filesystem::remove(path);
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

TEST_F(Bench, WritesRecordsAsTheFormatSays) {
  const Outcome outcome = tessera(
      "bench gemm --device cpu:0 --variant tiled,naive --case float32_m256_n256_k256 --set tile=8 --min-time 0.01 "
      "--warm-up 0.01 --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_TRUE(contains(outcome.standard_error, "GFLOP/s")) << "the table stands on standard error";
  const Json json = Json::parse(outcome.standard_output);
  const Json& device = json.at("devices").at(0);
  EXPECT_EQ(device.at("id"), "cpu:0");
  for (const char* peak : {"fma_float32_gflops", "fma_float64_gflops", "copy_gbytes_per_s"}) {
    EXPECT_GT(device.at("peaks").at(peak), 0) << peak;
  }
  ASSERT_EQ(json.at("records").size(), 2U);
  for (const Json& record : json.at("records")) {
    EXPECT_EQ(record.at("status"), "verified") << record;
    EXPECT_EQ(record.at("backend"), "cpu_tbb");
    EXPECT_EQ(record.at("type"), "float32");
    EXPECT_EQ(record.at("problem").at("m"), 256);
    EXPECT_LE(record.at("error").at("worst"), record.at("error").at("bound"));
    for (const char* times : {"device_time_s", "wall_time_s"}) {
      const Json& time = record.at(times);
      EXPECT_GE(time.at("count"), 10);
      EXPECT_GT(time.at("min"), 0);
      EXPECT_LE(time.at("min"), time.at("median"));
      EXPECT_LE(time.at("median"), time.at("max"));
    }
    const double seconds = record.at("device_time_s").at("median");
    const double gflops = record.at("gflops");
    EXPECT_NEAR(gflops, 2.0 * 256 * 256 * 256 / seconds / 1e9, 1e-6 * gflops);
    EXPECT_GT(record.at("gbytes_per_s"), 0);
    EXPECT_GT(record.at("peak_share"), 0);
  }
  EXPECT_EQ(json.at("records").at(0).at("variant"), "tiled");
  EXPECT_EQ(json.at("records").at(0).at("tuning").at("tile"), 8);
}

TEST_F(Bench, SkipsWhatTakesTooLongAndThenIsNoSuccess) {
  const Outcome outcome = tessera(
      "bench gemm --device cpu:0 --variant sequential --case float32_m256_n256_k256 --time-limit 0.001 --json -");
  EXPECT_EQ(outcome.exit_code, 1);
  const Json record = Json::parse(outcome.standard_output).at("records").at(0);
  EXPECT_EQ(record.at("status"), "skipped");
  EXPECT_TRUE(record.at("reason").is_string());
  EXPECT_TRUE(record.at("gflops").is_null());
}

TEST_F(Bench, StudiesWithRecordsTransfersAndConclusions) {
  const Outcome outcome = tessera("bench gemm --study --quick --device cpu:0 --variant register,tiled,naive --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_TRUE(contains(outcome.standard_error, "whose speeds say nothing")) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  ASSERT_EQ(json.at("records").size(), 8 * 3 + 3U) << "8 shapes, 3 variants, 3 other tiles for the largest shape";
  for (const Json& record : json.at("records")) {
    EXPECT_EQ(record.at("status"), "verified") << record;
    EXPECT_EQ(record.at("part"), "shapes");
    EXPECT_LE(record.at("error").at("worst"), record.at("error").at("bound"));
    EXPECT_EQ(record.at("is_default"), record.at("variant") == "register") << record;
  }
  ASSERT_EQ(json.at("transfers").size(), 2U) << "pinned memory is no other on a CPU";
  for (const Json& record : json.at("transfers")) {
    EXPECT_EQ(record.at("status"), "verified") << record;
    EXPECT_EQ(record.at("host_memory"), "ordinary");
    for (const char* part : {"upload", "compute", "download", "whole"}) {
      EXPECT_GE(record.at(part).at("wall_time_s").at("count"), 10) << part;
    }
  }
  const Json& study = json.at("studies").at(0);
  EXPECT_EQ(study.at("operator"), "gemm");
  EXPECT_EQ(study.at("quick"), true);
  EXPECT_EQ(study.at("tiles").at(1).at("gflops").size(), 4U) << study.at("tiles");
  EXPECT_EQ(study.at("devices").at(0).at("cases"), 8);
  EXPECT_TRUE(study.at("break_even").empty()) << "there is no device with memory of its own";
}

TEST_F(Bench, StudiesFindingsAndTheTableOfGroups) {
  if (tessera("devices").standard_output.find("opencl:0") == std::string::npos) GTEST_SKIP() << "there is no opencl:0";
  const Outcome outcome = tessera("bench cnn_layer --study --quick --device opencl:0 --variant subtile,naive --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_EQ(json.at("records").size(), 2 * 2 + 4 + 9U) << "2 layers, 2 variants, 4 findings off, 9 cells of the table";
  for (const Json& record : json.at("records")) EXPECT_EQ(record.at("status"), "verified") << record;
  const Json& study = json.at("studies").at(0);
  ASSERT_EQ(study.at("findings").size(), 4U);
  for (const Json& finding : study.at("findings")) EXPECT_EQ(finding.at("gflops").size(), 2U) << finding;
  ASSERT_EQ(study.at("groups_and_items").size(), 9U);
  for (const Json& cell : study.at("groups_and_items")) {
    EXPECT_TRUE(cell.at("items") == 32 || cell.at("items") == 64 || cell.at("items") == 128) << cell;
  }
}

}  // namespace
