// `tessera convolve` in a build without libpng: says so, whatever it is asked for.
#include <CLI/CLI.hpp>

#include <tessera/tessera.h>

#include "tools/command.h"

namespace tessera::tool {

namespace {

class ConvolveWithoutPng : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command =
        program.add_subcommand("convolve", "Convolve a PNG image with a filter (not in this build: it has no libpng)");
    command->allow_extras();
    return command;
  }

  int run() override {
    throw Error(ErrorCode::unavailable,
                "this program was built without libpng, which convolve needs; install it (Debian and Ubuntu: "
                "libpng-dev) and build again");
  }
};

}  // namespace

std::unique_ptr<Command> make_convolve_command() {
  return std::make_unique<ConvolveWithoutPng>();
}

}  // namespace tessera::tool
