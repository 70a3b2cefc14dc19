// A small result file as `tessera bench --study --json` writes them: two devices, ours and another library, three
// sizes, threads and copies.
#pragma once

#include <string>

#include "tools/input/json_reading.h"

namespace tessera::testing_support {

inline tool::Json report_record(const std::string& device, const std::string& variant, int size, double gflops) {
  const double seconds = 2e-9 * size * size * size / gflops;
  return {{"operator", "gemm"},
          {"device", device},
          {"backend", "some"},
          {"variant", variant},
          {"case", "float32_m" + std::to_string(size)},
          {"type", "float32"},
          {"tuning", {{"tile_m", 64}}},
          {"status", "verified"},
          {"reason", nullptr},
          {"is_default", variant == "register"},
          {"hardware",
           {{"instruction_set", "some"},
            {"threads", device == "cpu:0" ? tool::Json(8) : tool::Json()},
            {"launches",
             {{{"function", "f"}, {"groups", size}, {"group_size", 256}, {"registers", 128}, {"occupancy", 0.25}}}}}},
          {"error", {{"worst", 1e-6 * size}, {"bound", 1e-3 * size}}},
          {"device_time_s", {{"median", seconds}, {"min", seconds}, {"max", seconds}, {"count", 10}, {"spread", 0.01}}},
          {"wall_time_s", {{"median", 1.1 * seconds}}},
          {"gflops", gflops},
          {"gbytes_per_s", gflops / size * 6},
          {"peak_share", gflops / 1000},
          {"peak", "fma_float32_gflops"}};
}

inline tool::Json report_sample() {
  using tool::Json;
  Json result{{"tool", "tessera bench"},
              {"format", 1},
              {"date", "2026-01-01T00:00:00Z"},
              {"library", {{"version", "1.2.3"}, {"commit", "0123456789ab"}}},
              {"machine", {{"cpu", "A processor"}, {"threads", 8}, {"os", "A system"}}},
              {"note", "a remark"}};
  result["devices"] = Json::array();
  for (const char* id : {"cuda:0", "cpu:0"}) {
    result["devices"].push_back({{"asked_as", id},
                                 {"name", id == std::string("cpu:0") ? "A processor" : "An accelerator"},
                                 {"driver", "a driver"},
                                 {"driver_version", "1"},
                                 {"instruction_set", "some"},
                                 {"compute_units", 8},
                                 {"memory_total_bytes", 1U << 30U},
                                 {"peaks",
                                  {{"fma_float32_gflops", 1000.0},
                                   {"fma_float64_gflops", 500.0},
                                   {"copy_gbytes_per_s", 50.0},
                                   {"dot_int8_gflops", id == std::string("cpu:0") ? Json(4000.0) : Json()},
                                   {"reads",
                                    {{{"level", "L2"}, {"capacity_bytes", 1U << 20U}, {"gbytes_per_s", 400.0}},
                                     {{"level", "L3"}, {"capacity_bytes", 1U << 25U}, {"gbytes_per_s", nullptr}},
                                     {{"level", "memory"}, {"capacity_bytes", nullptr}, {"gbytes_per_s", 45.0}}}}}}});
  }
  result["records"] = Json::array();
  for (const char* device : {"cuda:0", "cpu:0"}) {
    for (const int size : {16, 256, 1024}) {
      const double share = device == std::string("cuda:0") ? 1 : 0.1;
      result["records"].push_back(report_record(device, "register", size, share * 200 * size / 1024));
      result["records"].push_back(report_record(device, "vendor_blas", size, share * 180 * size / 1024));
      result["records"].push_back(report_record(device, "naive", size, share * 3));
    }
  }
  Json refused = report_record("cpu:0", "thin", 16, 1);
  refused["status"] = "unsupported";
  refused["reason"] = "k is < 3";
  refused["device_time_s"] = refused["gflops"] = nullptr;
  result["records"].push_back(refused);
  result["studies"] = Json::array();
  result["studies"].push_back({{"operator", "gemm"},
                               {"threads",
                                {{{"device", "cpu:0"},
                                  {"variant", "register"},
                                  {"case", "1024^3"},
                                  {"speed_up", {{"1", 1.0}, {"2", 1.9}, {"8", 6.5}}}}}}});
  result["transfers"] = Json::array();
  for (const int size : {16, 256, 1024}) {
    const auto part = [&](double seconds) { return Json{{"wall_time_s", {{"median", seconds * size}}}}; };
    result["transfers"].push_back({{"operator", "gemm"},
                                   {"device", "cuda:0"},
                                   {"label", std::to_string(size) + "^3"},
                                   {"status", "verified"},
                                   {"host_memory", "pinned"},
                                   {"upload", part(1e-6)},
                                   {"compute", part(4e-6)},
                                   {"download", part(5e-7)},
                                   {"upload_gbytes_per_s", 12.5},
                                   {"download_gbytes_per_s", 25.5}});
  }
  result["missing_peers"] = Json::array();
  result["missing_peers"].push_back(
      {{"variant", "vendor_other"}, {"devices", {"cpu:0"}}, {"reason", "Other is not there"}, {"remedy", "get <it>"}});
  return result;
}

}  // namespace tessera::testing_support
