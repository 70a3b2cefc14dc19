// `tessera convolve`: an image through a filter. The command line; what it asks for is done in convolve.cpp.
#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/convolve/convolve.h"
#include "tools/convolve/image_filter.h"
#include "tools/process/usage_error.h"
#include "tools/selection.h"

namespace tessera::tool {

namespace {

constexpr const char* kFooter =
    "Filters:\n"
    "  gaussian:N    blurs; N is odd, 1 to 63. Divided by its sum\n"
    "  box:N         the mean of N x N pixels, N is 1 to 63. Divided by its sum\n"
    "  sharpen       0 -1 0 | -1 5 -1 | 0 -1 0\n"
    "  laplacian     0 1 0 | 1 -4 1 | 0 1 0, the absolute value\n"
    "  emboss        -2 -1 0 | -1 1 1 | 0 1 2\n"
    "  sobel-x       -1 0 1 | -2 0 2 | -1 0 1, the absolute value; sobel-y is the same turned\n"
    "  FILE          rows of up to 63 numbers, apart by blanks or commas; # opens a comment\n"
    "\n"
    "Sums are exact, and the same on every device. They are divided, moved by the offset, rounded to the nearest\n"
    "integer, and held within 0 to 255, or 65535 in images of 16 bit.\n\n"
    "Examples:\n"
    "  tessera convolve photo.png soft.png --filter gaussian:9\n"
    "  tessera convolve photo.png edges.png --filter sobel-x --device cpu:0 --time\n"
    "  tessera convolve photo.png relief.png --filter sobel-y --signed --divide 4 --offset 50%\n"
    "  tessera convolve - - --filter my_filter.txt --divide sum <photo.png >result.png\n";

/// A whole text as a finite number; nothing if it is none.
std::optional<double> number_in(std::string_view text) {
  double number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(number)) return {};
  return number;
}

class ConvolveCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand("convolve", "Convolve a PNG image with a filter");
    Convolution& c = convolution_;
    command->add_option("input", c.input, "Image to read, - for standard input")->type_name("IN.png")->required();
    command->add_option("output", c.output, "Image to write, - for standard output")->type_name("OUT.png")->required();
    command->add_option("-f,--filter", filter_, "A filter's name or a file of weights, see below")
        ->type_name("FILTER")
        ->required();
    command->add_option("--divide", divide_, "Divide sums by this number, or by the sum of the weights")
        ->type_name("NUMBER|sum");
    command->add_option("--offset", offset_, "Add this to the quotients; with %, of the largest value")
        ->type_name("NUMBER[%]");
    CLI::Option* const absolute = command->add_flag("--absolute", absolute_, "Take sums without their signs");
    command->add_flag("--signed", signed_, "Take sums with their signs, where the filter says otherwise")
        ->excludes(absolute);
    command->add_flag("--flip", c.flip, "Turn the filter by 180 degrees first: the convolution of mathematics");
    command
        ->add_option("--border", c.border,
                     "Beyond the edges: the image mirrored, zeros (same; darkens edges), or nothing (valid; the output "
                     "is smaller)")
        ->transform(CLI::CheckedTransformer(kBorders, CLI::ignore_case).description(""))
        ->type_name("mirror|same|valid")
        ->default_str("mirror");
    command->add_flag("--alpha", c.convolves_alpha, "Convolve an alpha channel, too; otherwise it is copied");
    command->add_option("--max-pixels", c.most_pixels, "Refuse images with more pixels")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--force", c.replaces_input, "Allow that OUT.png is IN.png itself");
    command
        ->add_option(
            "-d,--device", device_,
            "Device as `tessera devices` names it; without it that of $TESSERA_DEVICE, or the best one present")
        ->type_name("D");
    command->add_option("-v,--variant", c.kernel.variant, "Force this variant of conv2d")->type_name("V");
    command->add_option("-s,--set", settings_, "Tuning value of the variant")
        ->type_name("KEY=VALUE")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_flag("--time", tells_time_, "Print the seconds that it took, and the device");
    command->footer(kFooter);
    return command;
  }

  int run() override {
    read_options();
    const auto start = std::chrono::steady_clock::now();
    const Device device = open_device();
    const double open_s = seconds_since(start);
    const ConvolutionReport report = convolve(convolution_, device);
    if (tells_time_) {
      std::ostream& text = convolution_.output == "-" ? std::cerr : std::cout;
      text << fmt::format(
          "{:.3f} s: {:.3f} s opening {}, {:.3f} s compiling, {:.3f} s reading, {:.3f} s convolving ({}), {:.3f} s "
          "writing\n",
          seconds_since(start), open_s, device.id(), report.compile_s, report.read_s, report.compute_s, report.variants,
          report.write_s);
    }
    return kExitSuccess;
  }

 private:
  static inline const std::map<std::string, ImageBorder> kBorders{
      {"mirror", ImageBorder::mirror}, {"same", ImageBorder::same}, {"valid", ImageBorder::valid}};

  static double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void read_options() {
    Convolution& c = convolution_;
    if (c.output == "-" && isatty(STDOUT_FILENO) != 0) {
      throw UsageError("the output is standard output, but that is a terminal");
    }
    c.kernel.tuning = parse_settings(settings_);
    c.divides_by_sum = divide_ == "sum";
    if (!divide_.empty() && !c.divides_by_sum) {
      c.divisor = number_in(divide_);
      if (!c.divisor || !(*c.divisor > 0)) {
        throw UsageError(fmt::format("--divide is '{}', but must be a number above 0, or sum", divide_));
      }
    }
    if (!offset_.empty()) {
      const bool is_share = offset_.ends_with('%');
      const std::optional<double> offset = number_in(offset_.substr(0, offset_.size() - (is_share ? 1 : 0)));
      if (!offset) throw UsageError(fmt::format("--offset is '{}', but must be a number, or a percentage", offset_));
      (is_share ? c.offset_share : c.offset) = is_share ? *offset / 100 : *offset;
    }
    if (absolute_ || signed_) c.takes_absolute = absolute_;
    c.filter = find_filter(filter_);
  }

  [[nodiscard]] Device open_device() const {
    try {
      return open(device_);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
      throw;
    }
  }

  Convolution convolution_;
  std::string filter_;
  std::string divide_;
  std::string offset_;
  bool absolute_ = false;
  bool signed_ = false;
  std::string device_;
  std::vector<std::string> settings_;
  bool tells_time_ = false;
};

}  // namespace

std::unique_ptr<Command> make_convolve_command() {
  return std::make_unique<ConvolveCommand>();
}

}  // namespace tessera::tool
