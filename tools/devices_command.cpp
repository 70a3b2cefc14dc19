// `tessera devices`: every device with its facts, and every backend that was looked for with its state and the reason.
#include <CLI/CLI.hpp>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tessera/tessera.h>

#include "tools/command.h"
#include "tools/output/device_facts.h"
#include "tools/output/result_file.h"
#include "tools/output/table.h"

namespace tessera::tool {

namespace {

class DevicesCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand(
        "devices", "List the devices with their facts, and the backends that were looked for with the reason");
    command->add_option("--json", json_, "Write the facts as JSON to this file, or to standard output for -")
        ->type_name("FILE|-");
    command->footer("Example:\n  tessera devices\n  tessera devices --json - | python3 -m json.tool\n");
    return command;
  }

  int run() override {
    ResultFile file(json_);
    const std::vector<DeviceInfo> present = devices();
    const std::vector<BackendInfo> looked_for = backends();

    Json result = result_head("tessera devices");
    result.erase("records");
    for (const DeviceInfo& info : present) {
      Json entry = to_json(info);
      entry["same_card_as"] = same_card_as(info, present);
      result["devices"].push_back(std::move(entry));
    }
    file.text() << fmt::format("tessera {} ({})\n\n", version(), commit());
    for (const DeviceInfo& info : present) file.text() << describe(info, present) << "\n";
    if (present.empty()) file.text() << "no device is here; the backends say why:\n\n";
    Table table({{"backend"}, {"state"}, {"reason"}, {"plug-in"}});
    for (const BackendInfo& info : looked_for) {
      table.add_row({info.name, std::string(to_string(info.state)), info.reason, info.plugin});
    }
    file.text() << table.render();
    file.write(result);
    return kExitSuccess;
  }

 private:
  std::string json_;
};

}  // namespace

std::unique_ptr<Command> make_devices_command() {
  return std::make_unique<DevicesCommand>();
}

}  // namespace tessera::tool
