// `tessera denoise`: images and volumes without their noise. The command line; what it asks for is done in denoise.cpp.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/denoise/denoise.h"
#include "tools/process/usage_error.h"
#include "tools/selection.h"

namespace tessera::tool {

namespace {

constexpr const char* kDenoiseFooter =
    "Files, told apart by their first bytes; OUT has the form of IN, with all that IN says about its voxels:\n"
    "  PNG      grey or colour, 8 or 16 bit; an alpha channel is copied\n"
    "  NRRD     raw or gzip, in one file      NIfTI-1  .nii and .nii.gz      NPY  as numpy.save writes it\n"
    "  TIFF     pages are the planes of a volume\n"
    "Types: integers and floats. Whole numbers of more than 16 bits must span at most 65535; float64 is computed in\n"
    "float32. What is white noise of a normal distribution is removed; its standard deviation, sigma, is estimated\n"
    "unless it is given. Every device writes the same voxels.\n\n"
    "Examples:\n"
    "  tessera denoise photo.png clean.png\n"
    "  tessera denoise scan.nii.gz clean.nii.gz --sigma 18 --profile high --device cpu:0\n"
    "  tessera phantom --size 64 --noise 25 --out noisy.nrrd && tessera denoise noisy.nrrd clean.nrrd --sigma 25\n";

class DenoiseCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand("denoise", "Remove noise from an image or a volume");
    DenoiseRequest& r = request_;
    command->add_option("input", r.input, "File to read, - for standard input")->type_name("IN")->required();
    command->add_option("output", r.output, "File to write, - for standard output")->type_name("OUT")->required();
    command->add_option("--sigma", sigma_, "Standard deviation of the noise, in units of the voxels")
        ->type_name("S|auto")
        ->capture_default_str();
    command
        ->add_option("-m,--method", method_,
                     "bm: stacks of patches that look alike, BM3D and BM4D; nlm: non-local means")
        ->check(CLI::IsMember(kMethods).description(""))
        ->type_name("bm|nlm")
        ->capture_default_str();
    command->add_option("-p,--profile", profile_, "How much work is done for a better result")
        ->check(CLI::IsMember(kProfiles).description(""))
        ->type_name("fast|normal|high")
        ->capture_default_str();
    command->add_option("--range", range_, "What voxels usually span; found in the file unless it is given")
        ->type_name("R");
    command
        ->add_option(
            "-d,--device", device_,
            "Device as `tessera devices` names it; without it that of $TESSERA_DEVICE, or the best one present")
        ->type_name("D");
    command->add_option("-v,--variant", r.plan.kernel.variant, "Force this variant of the operator")->type_name("V");
    command->add_option("-s,--set", settings_, "Tuning value of the variant")
        ->type_name("KEY=VALUE")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--memory", r.plan.memory_bytes,
                     "Of the device's memory at most so much, for which larger files are cut; as much as is free")
        ->transform(CLI::AsSizeValue(false).description(""))
        ->type_name("SIZE");
    command->add_option("--max-pixels", r.most_pixels, "Refuse PNG images with more pixels")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--force", r.replaces_input, "Allow that OUT is IN itself");
    command->footer(kDenoiseFooter);
    return command;
  }

  int run() override {
    read_options();
    const Device device = open_device();
    const DenoiseReport report = denoise_file(request_, device);
    std::ostream& text = request_.output == "-" ? std::cerr : std::cout;
    text << text_of(report, device.id());
    if (!request_.sigma && report.least_sigma == 0) {
      std::cerr << "tessera denoise: the noise was estimated as 0, because the finest details of most voxels are 0; "
                   "nothing was removed there, and --sigma says how much is to be\n";
    }
    return kExitSuccess;
  }

 private:
  static inline const std::map<std::string, DenoiseProfile> kProfiles{
      {"fast", DenoiseProfile::fast}, {"normal", DenoiseProfile::normal}, {"high", DenoiseProfile::high}};

  static inline const std::map<std::string, DenoiseMethod> kMethods{{"bm", DenoiseMethod::bm},
                                                                    {"nlm", DenoiseMethod::nlm}};

  static double number_of(const char* option, const std::string& text, const char* what) {
    double number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    if (!is_whole || !std::isfinite(number) || number < 0) {
      throw UsageError(fmt::format("{} is '{}', but must be {}", option, text, what));
    }
    return number;
  }

  void read_options() {
    if (request_.output == "-" && isatty(STDOUT_FILENO) != 0) {
      throw UsageError("the output is standard output, but that is a terminal");
    }
    if (sigma_ != "auto") request_.sigma = number_of("--sigma", sigma_, "a number of at least 0, or auto");
    if (!range_.empty()) request_.range = number_of("--range", range_, "a number of at least 0");
    request_.method = kMethods.at(method_);
    if (request_.range && request_.method == DenoiseMethod::nlm)
      throw UsageError("--range is given, but the method nlm has none");
    request_.profile = kProfiles.at(profile_);
    request_.plan.kernel.tuning = parse_settings(settings_);
  }

  [[nodiscard]] Device open_device() const {
    try {
      return open(device_);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
      throw;
    }
  }

  [[nodiscard]] std::string text_of(const DenoiseReport& report, const std::string& device) const {
    const VolumeHead& head = report.head;
    std::string size = fmt::format("{} x {}", head.size.x, head.size.y);
    if (head.size.z > 1) size += fmt::format(" x {}", head.size.z);
    if (head.frames > 1) size = fmt::format("{} volumes of {}", head.frames, size);
    std::string sigma = fmt::format("{:.4g}", report.least_sigma);
    if (report.most_sigma > report.least_sigma) sigma += fmt::format(" to {:.4g}", report.most_sigma);
    return fmt::format("{}, {} {}{}: sigma {}{}, {}{}, {} ({}), {:.1f} s\n", head.format, size, to_string(head.type),
                       head.channels == 3 ? " in colour" : "", sigma, request_.sigma ? "" : " (estimated)",
                       request_.method == DenoiseMethod::nlm ? "nlm " : "", to_string(request_.profile), device,
                       report.variant, report.seconds);
  }

  DenoiseRequest request_;
  std::string sigma_ = "auto";
  std::string method_ = "bm";
  std::string profile_ = "normal";
  std::string range_;
  std::string device_;
  std::vector<std::string> settings_;
};

}  // namespace

std::unique_ptr<Command> make_denoise_command() {
  return std::make_unique<DenoiseCommand>();
}

}  // namespace tessera::tool
