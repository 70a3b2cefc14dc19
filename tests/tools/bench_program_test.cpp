// `tessera bench` as a user runs it: its records, what it skips, and the studies.
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "json_schema.h"
#include "program_run.h"

namespace {

using Json = nlohmann::json;
using tessera::testing_support::difference_from_schema;
using tessera::testing_support::Outcome;
using tessera::testing_support::result_schema;
using BenchProgramTest = tessera::testing_support::ProgramOnCpuTest;

/// Leaves the peaks of cpu:0 in the cache: what is tested under a budget of seconds must not depend on who came first.
constexpr const char* kPeaksFirst =
    "bench gemm --device cpu:0 --variant naive --case float32_m256_n256_k256 --min-time 0 --warm-up 0";

TEST_F(BenchProgramTest, writes_records_as_the_format_says) {
  const Outcome outcome =
      run("bench gemm --device cpu:0 --variant tiled,naive --case float32_m256_n256_k256 --set tile=8 --min-time 0.01 "
          "--warm-up 0.01 --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_NE(outcome.standard_error.find("GFLOP/s"), std::string::npos) << "the table stands on standard error";
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_EQ(difference_from_schema(json, result_schema()), "");
  const Json& device = json.at("devices").at(0);
  EXPECT_EQ(device.at("id"), "cpu:0");
  for (const char* peak :
       {"fma_float32_gflops", "fma_float64_gflops", "fma_int32_gflops", "dot_int8_gflops", "copy_gbytes_per_s"}) {
    EXPECT_GT(device.at("peaks").at(peak), 0) << peak;
  }
  const Json& reads = device.at("peaks").at("reads");
  EXPECT_EQ(reads.back().at("level"), "memory");
  EXPECT_GT(reads.back().at("gbytes_per_s"), 0);
  ASSERT_EQ(json.at("records").size(), 2U);
  for (const Json& record : json.at("records")) {
    EXPECT_EQ(record.at("status"), "verified") << record;
    EXPECT_EQ(record.at("backend"), "cpu_tbb");
    EXPECT_EQ(record.at("type"), "float32");
    EXPECT_EQ(record.at("problem").at("m"), 256);
    EXPECT_LE(record.at("error").at("worst"), record.at("error").at("bound"));
    EXPECT_GT(record.at("error").at("rms"), 0);
    EXPECT_LT(record.at("error").at("rms"), 1e-6 * record.at("error").at("rms_of_values").get<double>());
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
    EXPECT_TRUE(record.at("peak").is_string()) << record;
  }
  EXPECT_EQ(json.at("records").at(0).at("variant"), "tiled");
  EXPECT_EQ(json.at("records").at(0).at("tuning").at("tile"), 8);
}

TEST_F(BenchProgramTest, compares_with_an_older_result) {
  const std::string command =
      "bench gemm --device cpu:0 --variant naive --case float32_m256_n256_k256 --min-time 0.01 --warm-up 0.01 ";
  ASSERT_EQ(run(command + "--json before.json").exit_code, 0);
  // Whatever this machine does meanwhile: what took a second then is not slower now, and what took a nanosecond is.
  Json before = Json::parse(scratch.read("before.json"));
  const auto compare_with = [&](double seconds) {
    before["records"][0]["device_time_s"]["median"] = seconds;
    before["records"][0]["device_time_s"]["spread"] = 0;
    std::ofstream(scratch.path("before.json")) << before;
    return run(command + "--compare before.json");
  };
  const Outcome faster = compare_with(1);
  EXPECT_EQ(faster.exit_code, 0) << faster.standard_output;
  EXPECT_NE(faster.standard_output.find("faster"), std::string::npos) << faster.standard_output;
  const Outcome slower = compare_with(1e-9);
  EXPECT_EQ(slower.exit_code, 1) << slower.standard_output;
  EXPECT_NE(slower.standard_output.find("SLOWER"), std::string::npos) << slower.standard_output;
  EXPECT_EQ(run(command + "--compare no_such_file.json").exit_code, 1);
  EXPECT_EQ(run("bench gemm --study --compare before.json").exit_code, 2);
}

TEST_F(BenchProgramTest, measures_with_numbers_of_threads) {
  const std::string command =
      "bench gemm --variant tiled --case float32_m256_n256_k256 --min-time 0.01 --warm-up 0.01 ";
  const Outcome outcome = run(command + "--device cpu:0 --threads 2,1,2 --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_NE(outcome.standard_error.find("speed-up over threads"), std::string::npos) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_EQ(difference_from_schema(json, result_schema()), "");
  ASSERT_EQ(json.at("records").size(), 2U);
  EXPECT_EQ(json.at("records").at(0).at("device"), "cpu:0?threads=1");
  EXPECT_EQ(json.at("records").at(1).at("device"), "cpu:0?threads=2");
  const Json& row = json.at("threads").at(0);
  EXPECT_EQ(row.at("operator"), "gemm");
  const double one = json.at("records").at(0).at("device_time_s").at("median");
  const double two = json.at("records").at(1).at("device_time_s").at("median");
  EXPECT_DOUBLE_EQ(row.at("speed_up").at("2"), one / two);
  EXPECT_DOUBLE_EQ(row.at("efficiency").at("2"), one / two / 2);
  EXPECT_EQ(run(command + "--device cpu:0 --threads 0").exit_code, 2);
  EXPECT_EQ(run(command + "--device cpu:0 --study --threads 1").exit_code, 2);
}

TEST_F(BenchProgramTest, measures_everything_within_a_budget_and_names_missing_peers) {
  ASSERT_EQ(run(kPeaksFirst).exit_code, 0);
  const Outcome outcome =
      run("bench gemm --all --budget 4 --device cpu:0 --min-time 0.01 --warm-up 0.01 --json all.json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error << outcome.standard_output;
  EXPECT_NE(outcome.standard_output.find("beside the peer"), std::string::npos) << outcome.standard_output;
  const Json json = Json::parse(scratch.read("all.json"));
  EXPECT_EQ(difference_from_schema(json, result_schema()), "");
  std::size_t verified = 0;
  double work = 0;
  for (const Json& record : json.at("records")) {
    const Json& problem = record.at("problem");
    EXPECT_GE(double(problem.at("m")) * double(problem.at("n")), work) << "small cases come first: " << record;
    work = double(problem.at("m")) * double(problem.at("n"));
    if (record.at("status") == "verified") ++verified;
    if (record.at("status") == "skipped") {
      EXPECT_NE(std::string(record.at("reason")).find("budget"), std::string::npos) << record;
    }
  }
  EXPECT_GE(verified, 2U);
  for (const Json& peer : json.at("missing_peers")) {
    EXPECT_TRUE(std::string(peer.at("variant")).starts_with("vendor_")) << peer;
    EXPECT_NE(outcome.standard_output.find(std::string(peer.at("variant"))), std::string::npos) << peer;
  }
  EXPECT_EQ(run("bench --all --variant naive").exit_code, 2);
  EXPECT_EQ(run("bench gemm --budget 4").exit_code, 2);
  EXPECT_EQ(run("bench gemm --all --study").exit_code, 2);
}

TEST_F(BenchProgramTest, an_interrupt_keeps_what_is_measured) {
  ASSERT_EQ(run(kPeaksFirst).exit_code, 0);
  const Outcome outcome =
      run_line(scratch,
               "timeout -s INT 6 \"$tessera\" bench --all --budget 0 --device cpu:0 --min-time 0.01 --warm-up 0.01 "
               "--json kept.json");
  EXPECT_EQ(outcome.exit_code, 124) << "timeout says that it had to end it";
  const Json json = Json::parse(scratch.read("kept.json"));
  EXPECT_EQ(difference_from_schema(json, result_schema()), "");
  EXPECT_EQ(json.at("interrupted"), true);
  ASSERT_FALSE(json.at("records").empty());
  EXPECT_EQ(json.at("records").at(0).at("status"), "verified") << json.at("records").at(0);
}

TEST_F(BenchProgramTest, measures_cold_runs_rounds_and_copies) {
  const Outcome outcome =
      run("bench gemm --device cpu:0 --variant register --case float32_m256_n256_k256 --min-time 0.01 --warm-up 0.01 "
          "--cold --repeat 2 --transfers --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_EQ(difference_from_schema(json, result_schema()), "");
  const Json& record = json.at("records").at(0);
  EXPECT_EQ(record.at("cold"), true);
  EXPECT_GT(record.at("flushed_bytes"), json.at("devices").at(0).at("cache_bytes"));
  EXPECT_EQ(record.at("rounds_s").size(), 2U);
  EXPECT_EQ(record.at("batch"), 1);
  EXPECT_EQ(record.at("hardware").at("threads"), json.at("devices").at(0).at("compute_units"));
  ASSERT_EQ(json.at("transfers").size(), 1U) << "pinned memory is no other on a CPU";
  const Json& transfer = json.at("transfers").at(0);
  EXPECT_EQ(transfer.at("upload_bytes"), 2 * 256 * 256 * 4);
  EXPECT_EQ(transfer.at("download_bytes"), 256 * 256 * 4);
  const double seconds = transfer.at("download").at("wall_time_s").at("median");
  EXPECT_NEAR(transfer.at("download_gbytes_per_s"), 256 * 256 * 4 / seconds / 1e9, 1e-6 / seconds);
}

TEST_F(BenchProgramTest, skips_what_takes_too_long_and_then_is_no_success) {
  const Outcome outcome =
      run("bench gemm --device cpu:0 --variant sequential --case float32_m256_n256_k256 --time-limit 0.001 --json -");
  EXPECT_EQ(outcome.exit_code, 1);
  const Json record = Json::parse(outcome.standard_output).at("records").at(0);
  EXPECT_EQ(record.at("status"), "skipped");
  EXPECT_TRUE(record.at("reason").is_string());
  EXPECT_TRUE(record.at("gflops").is_null());
}

TEST_F(BenchProgramTest, studies_with_records_transfers_and_conclusions) {
  const Outcome outcome =
      run("bench gemm --study --quick --part shapes,transfers --device cpu:0 --variant register,tiled,naive --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_NE(outcome.standard_error.find("whose speeds say nothing"), std::string::npos) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_EQ(difference_from_schema(json, result_schema()), "");
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
  EXPECT_EQ(study.at("parts"), Json({"shapes", "transfers"}));
  EXPECT_EQ(study.at("tiles").at(1).at("gflops").size(), 4U) << study.at("tiles");
  EXPECT_EQ(study.at("devices").at(0).at("cases"), 8);
  EXPECT_TRUE(study.at("break_even").empty()) << "there is no device with memory of its own";
}

TEST_F(BenchProgramTest, studies_findings_and_the_table_of_groups) {
  if (run("devices").standard_output.find("opencl:0") == std::string::npos) GTEST_SKIP() << "there is no opencl:0";
  const Outcome outcome = run("bench cnn_layer --study --quick --device opencl:0 --variant subtile,naive --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_EQ(json.at("records").size(), 2 * 2 + 1 + 7 + 3 + 9U)
      << "2 layers, 2 variants, the preferred one and 7 findings the other way, sums in memory, 9 cells of the table";
  for (const Json& record : json.at("records")) EXPECT_EQ(record.at("status"), "verified") << record;
  const Json& study = json.at("studies").at(0);
  ASSERT_EQ(study.at("findings").size(), 7U);
  for (const Json& finding : study.at("findings")) EXPECT_EQ(finding.at("gflops").size(), 2U) << finding;
  EXPECT_EQ(study.at("sums_in_memory").size(), 3U) << study.at("sums_in_memory");
  ASSERT_EQ(study.at("groups_and_items").size(), 9U);
  for (const Json& cell : study.at("groups_and_items")) {
    EXPECT_TRUE(cell.at("items") == 32 || cell.at("items") == 64 || cell.at("items") == 128) << cell;
  }
}

TEST_F(BenchProgramTest, studies_one_part_alone) {
  const Outcome outcome =
      run("bench conv2d --study --quick --part curves --device cpu:1 --variant accumulate --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const Json json = Json::parse(outcome.standard_output);
  EXPECT_EQ(difference_from_schema(json, result_schema()), "");
  const Json& curves = json.at("studies").at(0).at("curves");
  ASSERT_EQ(curves.size(), 2 * 2U) << "2 sizes, a standing pool and new threads";
  for (const Json& row : curves) {
    EXPECT_EQ(row.at("seconds").size(), 3U) << row;
    EXPECT_EQ(row.at("speed_up").at("1"), 1.0) << row;
  }

  const Outcome alone = run("bench all --study --quick --part sequential --device cpu:0 --json -");
  ASSERT_EQ(alone.exit_code, 0) << alone.standard_error;
  const Json one_thread = Json::parse(alone.standard_output);
  ASSERT_EQ(one_thread.at("studies").size(), 1U) << "cnn_layer alone has such a part";
  const Json& sequential = one_thread.at("studies").at(0).at("sequential");
  ASSERT_EQ(sequential.size(), 2U);
  for (const Json& entry : sequential) EXPECT_GT(entry.at("gflops"), 0) << entry;

  const Outcome unknown = run("bench gemm --study --quick --part curves --device cpu:0");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.standard_error.find("there is no part 'curves'"), std::string::npos) << unknown.standard_error;
  EXPECT_EQ(run("bench gemm --part shapes").exit_code, 2) << "parts are a study's";
}

}  // namespace
