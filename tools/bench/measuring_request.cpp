// Fields of a request.
#include "tools/bench/measuring_request.h"

#include <fmt/format.h>

#include "tools/input/json_reading.h"
#include "tools/output/result_file.h"

namespace tessera::tool {

std::string request_line(const Job& job, const MeasurementLimits& limits) {
  const Json request{{"operator", job.set->operator_name},
                     {"device", job.device->name},
                     {"problem", job.typed},
                     {"variant", job.variant},
                     {"tuning", to_json(job.tuning)},
                     {"warm_up_s", limits.warm_up_s},
                     {"first_warm_up_s", limits.first_warm_up_s},
                     {"min_time_s", limits.min_time_s},
                     {"time_limit_s", limits.time_limit_s},
                     {"one_run_limit_s", limits.one_run_limit_s},
                     {"rival_s", limits.rival_s},
                     {"cold", limits.cold}};
  return request.dump();
}

MeasuringRequest request_of(const std::string& line) try {
  const Json request = Json::parse(line);
  MeasuringRequest result;
  result.selection.operator_name = request.at("operator");
  result.selection.devices = {request.at("device")};
  result.selection.problems = {request.at("problem")};
  result.variant = request.at("variant");
  for (const auto& [name, value] : request.at("tuning").items()) result.tuning[name] = value;
  result.limits.warm_up_s = request.at("warm_up_s");
  result.limits.first_warm_up_s = request.at("first_warm_up_s");
  result.limits.min_time_s = request.at("min_time_s");
  result.limits.time_limit_s = request.at("time_limit_s");
  result.limits.one_run_limit_s = request.at("one_run_limit_s");
  result.limits.rival_s = request.at("rival_s");
  result.limits.cold = request.at("cold");
  return result;
} catch (const Json::exception& error) {
  throw Error(ErrorCode::invalid_argument, fmt::format("what is to be measured is no request: {}", error.what()));
}

}  // namespace tessera::tool
