// `tessera psnr`: how far two files of images or volumes are apart.
#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <new>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/command.h"
#include "tools/psnr/likeness.h"

namespace tessera::tool {

namespace {

constexpr const char* kPsnrFooter =
    "A is the one that is right, B the other; formats and types may differ, and files are those of `tessera denoise`.\n"
    "PSNR is 10 log10(peak^2 / mean squared difference), SSIM that of Wang et al. (2004) in Gaussian windows of 11\n"
    "voxels along each axis. An alpha channel is not compared.\n\n"
    "Example: tessera psnr clean.nrrd denoised.nrrd\n";

class PsnrCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand("psnr", "Say how far two images or volumes are apart");
    command->add_option("one", one_, "File to read, - for standard input")->type_name("A")->required();
    command->add_option("other", other_, "File to read")->type_name("B")->required();
    command->add_option("--peak", peak_, "What PSNR and SSIM relate to; 255 of bytes, else what the numbers of A span")
        ->check(CLI::PositiveNumber)
        ->type_name("P");
    command->footer(kPsnrFooter);
    return command;
  }

  int run() override {
    try {
      const std::unique_ptr<VolumeFile> one = open_volume(one_), other = open_volume(other_);
      std::cout << text_of(likeness_of(*one, *other, peak_), one->head());
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("there is not enough memory for the files '{}' and '{}'", one_, other_));
    }
    return kExitSuccess;
  }

 private:
  static std::string text_of(const Likeness& likeness, const VolumeHead& head) {
    std::string text;
    if (std::isinf(likeness.psnr_db)) {
      text = "PSNR infinite: no voxel differs\n";
    } else {
      text = fmt::format("PSNR {:.2f} dB (peak {:.6g})\n", likeness.psnr_db, likeness.peak);
    }
    if (!std::isnan(likeness.ssim)) text += fmt::format("SSIM {:.4f}\n", likeness.ssim);
    text += fmt::format("largest difference {:.6g}", likeness.difference);
    if (likeness.difference > 0) {
      text += fmt::format(" at x {}, y {}", likeness.x, likeness.y);
      if (head.size.z > 1) text += fmt::format(", z {}", likeness.z);
      if (head.channels > 1) text += fmt::format(", channel {}", likeness.channel);
      if (head.frames > 1) text += fmt::format(", volume {}", likeness.frame);
    }
    text += '\n';
    if (likeness.left_out > 0) {
      text += fmt::format("{} voxels are not finite and left out; SSIM is not told\n", likeness.left_out);
    }
    return text;
  }

  std::string one_;
  std::string other_;
  double peak_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_psnr_command() {
  return std::make_unique<PsnrCommand>();
}

}  // namespace tessera::tool
