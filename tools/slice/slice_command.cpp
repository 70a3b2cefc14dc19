// `tessera slice`: a plane of a volume as a PNG image.
#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <new>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/command.h"
#include "tools/process/usage_error.h"
#include "tools/slice/slice.h"
#include "tools/volumes/png_volume.h"

namespace tessera::tool {

namespace {

constexpr const char* kSliceFooter =
    "Files as of `tessera denoise`. Columns and rows of the image are x and y of a plane of z, x and z of one of y, y "
    "and\n"
    "z of one of x. Bytes are shown as they are, other types from the least number of the volume to the largest.\n\n"
    "Examples:\n"
    "  tessera slice scan.nii.gz middle.png\n"
    "  tessera slice scan.nrrd side.png --axis x --at 64 --window -200,300\n";

class SliceCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand("slice", "Show a plane of a volume as a PNG image");
    command->add_option("volume", input_, "File to read, - for standard input")->type_name("V")->required();
    command->add_option("image", output_, "Image to write, - for standard output")->type_name("OUT.png")->required();
    command->add_option("--axis", axis_, "The axis that the plane stands across")
        ->transform(CLI::CheckedTransformer(kAxes, CLI::ignore_case).description(""))
        ->type_name("x|y|z")
        ->default_str("z");
    command->add_option("--at", at_, "Which plane along it, counted from 0; the middle one unless it is given")
        ->type_name("N");
    command->add_option("--frame", frame_, "Which volume, if the file has several, counted from 0")
        ->type_name("N")
        ->capture_default_str();
    command->add_option("--window", window_, "What is black and what is white")
        ->type_name("LO,HI")
        ->delimiter(',')
        ->expected(2)
        ->allow_extra_args(false);
    command->footer(kSliceFooter);
    return command;
  }

  int run() override {
    if (!window_.empty() && !(window_[0] < window_[1])) {
      throw UsageError(
          fmt::format("--window is {},{}, but its first number must be below the second", window_[0], window_[1]));
    }
    try {
      write_slice();
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory, fmt::format("there is not enough memory for the file '{}'", input_));
    }
    return kExitSuccess;
  }

 private:
  static inline const std::map<std::string, SliceAxis> kAxes{
      {"x", SliceAxis::x}, {"y", SliceAxis::y}, {"z", SliceAxis::z}};

  void write_slice() const {
    const std::unique_ptr<VolumeFile> file = open_volume(input_);
    const VolumeHead& head = file->head();
    const std::int64_t planes = axis_ == SliceAxis::x ? head.size.x : axis_ == SliceAxis::y ? head.size.y : head.size.z;
    const std::int64_t at = at_.value_or(planes / 2);
    refuse_beyond("--at", at, planes, "planes along that axis", file->name());
    refuse_beyond("--frame", frame_, head.frames, "volumes", file->name());
    for (std::int64_t frame = 0; frame < frame_; ++frame) (void)file->read();
    const Voxels voxels = file->read();
    const SliceWindow window = window_.empty() ? usual_window(head, voxels) : SliceWindow{window_[0], window_[1]};
    const SliceImage image = slice_of(head, voxels, axis_, at, window);
    write_png(output_, image.width, image.height, image.pixels);
  }

  static void refuse_beyond(const char* option, std::int64_t number, std::int64_t count, const char* what,
                            const std::string& name) {
    if (number >= 0 && number < count) return;
    throw UsageError(fmt::format("{} is {}, but {} has {} {}, counted from 0", option, number, name, count, what));
  }

  std::string input_;
  std::string output_;
  SliceAxis axis_ = SliceAxis::z;
  std::optional<std::int64_t> at_;
  std::int64_t frame_ = 0;
  std::vector<double> window_;
};

}  // namespace

std::unique_ptr<Command> make_slice_command() {
  return std::make_unique<SliceCommand>();
}

}  // namespace tessera::tool
