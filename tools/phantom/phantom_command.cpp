// `tessera phantom`: a test volume with noise, and the same without.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <new>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/command.h"
#include "tools/output/progress.h"
#include "tools/phantom/shepp_logan.h"
#include "tools/process/interrupt.h"
#include "tools/process/usage_error.h"
#include "tools/volumes/volume_file.h"

namespace tessera::tool {

namespace {

constexpr std::int64_t kMostSize = 1 << 20;
constexpr std::int64_t kMostVoxels = std::int64_t{1} << 40;

constexpr const char* kPhantomFooter =
    "Shepp and Logan's phantom of a head: ten ellipsoids, from 0 outside to 255 in the skull, with white noise. uint8 "
    "and\n"
    "uint16 are rounded and end at 0 and 255 or 65535; float32 is not cut. Endings: .nrrd .nii .nii.gz .npy .tif\n\n"
    "Examples:\n"
    "  tessera phantom --size 128 --noise 25 --out noisy.nrrd --clean clean.nrrd\n"
    "  tessera denoise noisy.nrrd denoised.nrrd --sigma 25\n"
    "  tessera psnr clean.nrrd denoised.nrrd\n"
    "  tessera slice denoised.nrrd denoised.png\n";

class PhantomCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand("phantom", "Make a test volume with noise");
    command->add_option("--size", size_, "Voxels along each axis, or X,Y,Z")
        ->type_name("N|X,Y,Z")
        ->delimiter(',')
        ->expected(1, 3)
        ->allow_extra_args(false)
        ->check(CLI::Range(std::int64_t{1}, kMostSize).description(""))
        ->default_str("128");
    command->add_option("--noise", noise_, "Standard deviation of the noise")
        ->type_name("S")
        ->check(CLI::Range(0.0, 1e6).description(""))
        ->capture_default_str();
    command->add_option("-o,--out", output_, "File to write, its format by its ending")->type_name("V")->required();
    command->add_option("--clean", clean_, "File for the same without noise")->type_name("C");
    command->add_option("--seed", seed_, "Other seeds, other noise")->type_name("N")->capture_default_str();
    command->add_option("--type", type_name_, "What voxels are stored as")
        ->check(CLI::IsMember(kPhantomTypes).description(""))
        ->type_name("uint8|uint16|float32")
        ->capture_default_str();
    command->footer(kPhantomFooter);
    return command;
  }

  int run() override {
    read_options();
    try {
      write_volumes();
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("there is not enough memory for {} x {} x {} voxels", voxels_.x, voxels_.y, voxels_.z));
    }
    std::cout << fmt::format("{}: {} x {} x {} voxels of {}, noise {}, seed {}\n", output_, voxels_.x, voxels_.y,
                             voxels_.z, to_string(type_), noise_, seed_);
    return kExitSuccess;
  }

 private:
  static inline const std::map<std::string, DataType> kPhantomTypes{
      {"uint8", DataType::uint8}, {"uint16", DataType::uint16}, {"float32", DataType::float32}};

  void read_options() {
    type_ = kPhantomTypes.at(type_name_);
    if (size_.size() == 2) throw UsageError("--size has two numbers, but must have one or three");
    voxels_ = {size_[0], size_.back(), size_.back()};
    if (size_.size() == 3) voxels_.y = size_[1];
    if (voxels_.product() > kMostVoxels) {
      throw UsageError(fmt::format("--size makes {} voxels, but may make at most {}", voxels_.product(), kMostVoxels));
    }
    if (output_ == clean_) throw UsageError(fmt::format("--out and --clean are both '{}'", output_));
  }

  void write_volumes() {
    const std::unique_ptr<VolumeWriter> noisy = create_volume(output_, type_, voxels_);
    std::unique_ptr<VolumeWriter> clean;
    if (!clean_.empty()) clean = create_volume(clean_, type_, voxels_);
    with_type(type_, [&](auto number) { write<decltype(number)>(*noisy, clean.get()); });
  }

  template <class T>
  void write(VolumeWriter& noisy, VolumeWriter* clean) {
    std::vector<T> with_noise, without;
    Progress progress(static_cast<std::size_t>(voxels_.z));
    progress.steps_are_alike();
    for (std::int64_t z = 0; z < voxels_.z; ++z) {
      progress.show(static_cast<std::size_t>(std::max<std::int64_t>(z, 1)), "planes");
      for (const double value : phantom_plane(voxels_, z)) {
        if ((with_noise.size() & 0xffff) == 0) stop_if_interrupted();
        with_noise.push_back(stored<T>(value + phantom_noise(seed_, with_noise.size(), noise_)));
        if (clean != nullptr) without.push_back(stored<T>(value));
      }
    }
    noisy.write(with_noise);
    if (clean != nullptr) {
      clean->write(without);
      clean->finish();
    }
    noisy.finish();
  }

  template <class T>
  static T stored(double value) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(value);
    } else {
      return static_cast<T>(
          std::clamp(std::floor(value + 0.5), 0.0, static_cast<double>(std::numeric_limits<T>::max())));
    }
  }

  std::vector<std::int64_t> size_{128};
  double noise_ = 25;
  std::string output_;
  std::string clean_;
  std::uint64_t seed_ = 1;
  std::string type_name_ = "float32";
  DataType type_ = DataType::float32;
  PerAxis voxels_;
};

}  // namespace

std::unique_ptr<Command> make_phantom_command() {
  return std::make_unique<PhantomCommand>();
}

}  // namespace tessera::tool
