// The four IDX files and the sheet, all open until the last image is drawn.
#include "tools/digits/digit_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/digits/digit_drawing.h"
#include "tools/digits/digit_sheet.h"
#include "tools/gzip/gzip_file.h"
#include "tools/output/progress.h"
#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

constexpr std::uint32_t kIdxBytes = 0x800;  // the type; the number of dimensions is added

/// The folder, which goes again with what made it unless it is kept.
class TargetFolder {
 public:
  explicit TargetFolder(const std::string& path) : path_(path) {
    std::error_code failure;
    is_new_ = std::filesystem::create_directory(path, failure);
    if (!std::filesystem::is_directory(path)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the folder '{}' cannot be made: {}", path,
                              failure ? failure.message() : "there is something else under this name"));
    }
  }
  TargetFolder(const TargetFolder&) = delete;
  TargetFolder& operator=(const TargetFolder&) = delete;
  ~TargetFolder() {
    if (is_new_) ::rmdir(path_.c_str());  // only if it is empty
  }
  void keep() noexcept { is_new_ = false; }

 private:
  std::string path_;
  bool is_new_ = false;
};

/// IDX's head: the magic number and the lengths, the high byte first.
std::vector<std::uint8_t> idx_head(std::initializer_list<std::size_t> lengths) {
  std::vector<std::uint8_t> bytes;
  const auto add = [&](std::size_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(number >> shift));
  };
  add(kIdxBytes + lengths.size());
  for (const std::size_t length : lengths) add(length);
  return bytes;
}

/// Images and labels of one set.
class SetFiles {
 public:
  SetFiles(const std::string& images, const std::string& labels, const DigitRequest& request, std::int64_t count)
      : images_(images, "the file of images", request.packs), labels_(labels, "the file of labels", request.packs) {
    const auto size = static_cast<std::size_t>(count);
    images_.write(idx_head({size, kDigitSide, kDigitSide}));
    labels_.write(idx_head({size}));
  }
  void add(const DigitImage& image) {
    images_.write(image.pixels);
    labels_.write({&image.label, 1});
  }
  void commit() {
    images_.commit();
    labels_.commit();
  }

 private:
  GzipFile images_;
  GzipFile labels_;
};

std::vector<std::string> paths_of(const DigitRequest& request) {
  std::vector<std::string> paths;
  for (const char* name :
       {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    paths.push_back((std::filesystem::path(request.folder) / name).string() + (request.packs ? ".gz" : ""));
  }
  if (DigitSheet::kIsWritten) paths.push_back((std::filesystem::path(request.folder) / "samples.png").string());
  if (request.replaces) return paths;
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, unknown))) continue;
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is there already; --force allows to replace it", path));
  }
  return paths;
}

}  // namespace

std::vector<std::string> write_digits(const DigitRequest& request) {
  std::vector<std::string> paths = paths_of(request);
  TargetFolder folder(request.folder);
  std::array<std::optional<SetFiles>, 2> sets;
  sets[0].emplace(paths[0], paths[1], request, request.training_images);
  sets[1].emplace(paths[2], paths[3], request, request.test_images);
  DigitSheet sheet(paths.back());

  const std::array<std::int64_t, 2> counts{request.training_images, request.test_images};
  Progress progress(static_cast<std::size_t>(counts[0] + counts[1]));
  progress.steps_are_alike();
  std::size_t done = 0;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (std::int64_t index = 0; index < counts[set]; ++index) {
      stop_if_interrupted();
      const DigitImage image = draw_digit(request.seed, set, static_cast<std::uint64_t>(index));
      sets[set]->add(image);
      if (set == 0) sheet.add(image);
      progress.show(++done, "drawing digits");
    }
  }
  for (std::optional<SetFiles>& set : sets) set->commit();
  sheet.finish();
  folder.keep();
  return paths;
}

}  // namespace tessera::tool
