// `tessera digits`: a data set of drawn digits. The command line; what it asks for is done in digit_files.cpp.
#include <CLI/CLI.hpp>
#include <iostream>

#include <fmt/format.h>

#include "tools/command.h"
#include "tools/digits/digit_files.h"
#include "tools/digits/digit_sheet.h"

namespace tessera::tool {

namespace {

constexpr std::int64_t kMostImages = 10'000'000;

constexpr const char* kDigitsFooter =
    "Digits as hands write them, 28 x 28 pixels of one byte, white ink: each is a few strokes in one of three styles,\n"
    "bent, scaled, slanted, turned and shifted at random, drawn with a pen of some width, with noise. The same seed\n"
    "gives the same images on every machine, and image i is the same however many there are.\n\n"
    "Files, in the form and under the names of MNIST:\n"
    "  train-images-idx3-ubyte  train-labels-idx1-ubyte  t10k-images-idx3-ubyte  t10k-labels-idx1-ubyte\n"
    "  samples.png              twenty training images of every digit\n\n"
    "Examples:\n"
    "  tessera digits --out digits\n"
    "  tessera digits --out small --count 2000 --test 500 --seed 7 --gzip\n";

class DigitsCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand("digits", "Draw a data set of handwritten-like digits");
    DigitRequest& r = request_;
    command->add_option("-o,--out", r.folder, "Folder for the files, made if it is not there")
        ->type_name("DIR")
        ->required();
    const auto add_count = [&](const char* name, std::int64_t& count, const char* meaning) {
      command->add_option(name, count, meaning)
          ->check(CLI::Range(std::int64_t{1}, kMostImages))
          ->type_name("N")
          ->capture_default_str();
    };
    add_count("-n,--count", r.training_images, "Training images");
    add_count("-t,--test", r.test_images, "Test images");
    command->add_option("--seed", r.seed, "Other seeds, other images")->type_name("N")->capture_default_str();
    command->add_flag("-z,--gzip", r.packs, "Pack the files with gzip, and add .gz to their names");
    command->add_flag("--force", r.replaces, "Replace files that are there");
    command->footer(kDigitsFooter);
    return command;
  }

  int run() override {
    const std::vector<std::string> paths = write_digits(request_);
    std::cout << fmt::format("{} training and {} test images of digits, seed {}:\n", request_.training_images,
                             request_.test_images, request_.seed);
    for (const std::string& path : paths) std::cout << "  " << path << '\n';
    if (!DigitSheet::kIsWritten) std::cout << "no sheet of samples: this program was built without libpng\n";
    std::cout << fmt::format("classify them: tessera classify --train {} {} --test {} {}\n", paths[0], paths[1],
                             paths[2], paths[3]);
    return kExitSuccess;
  }

 private:
  DigitRequest request_;
};

}  // namespace

std::unique_ptr<Command> make_digits_command() {
  return std::make_unique<DigitsCommand>();
}

}  // namespace tessera::tool
