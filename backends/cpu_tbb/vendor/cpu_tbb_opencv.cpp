// Opening the module for OpenCV, which lies beside the plug-in.
#include "vendor/cpu_tbb_opencv.h"

#include <dlfcn.h>
#include <tessera/error.h>

#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "backend/sentence.h"
#include "vendor/cpu_tbb_vendor_library.h"

namespace tessera::cpu_tbb {

namespace {

/// The module in the folder of the file that this code was loaded from, and nowhere else: a name without a folder would
/// be looked for wherever the loader looks. None if the folder is unknown.
std::vector<std::string> module_files() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&module_files), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code failure;
  const std::filesystem::path file = std::filesystem::absolute(info.dli_fname, failure);
  if (failure) return {};
  return {(file.parent_path() / kOpencvModuleFile).string()};
}

/// Room for the module's words.
class Words {
 public:
  [[nodiscard]] OpencvReason reason() noexcept { return {text_.data(), text_.size()}; }
  [[nodiscard]] const char* text() const noexcept { return text_.data(); }

 private:
  std::array<char, 512> text_{};
};

}  // namespace

OpencvLibrary::OpencvLibrary() : library_(module_files()) {
  (void)library_.function(check_, "tessera_opencv_check");
  (void)library_.function(filter2d_, "tessera_opencv_filter2d");
}

backend::Verdict OpencvLibrary::check() const {
  using backend::Verdict;
  if (Verdict opens = vendor_library_opens("the module for OpenCV", library_); !opens) return opens;
  if (check_ == nullptr || filter2d_ == nullptr)
    return Verdict::no(backend::sentence(library_.name(), " is not the module for OpenCV: it lacks a function"));
  Words words;
  if (check_(kOpencvModuleVersion, words.reason()) != OpencvOutcome::done) return Verdict::no(words.text());
  return Verdict::yes();
}

void OpencvLibrary::filter2d(const OpencvStrip& strip) const {
  Words words;
  const OpencvOutcome outcome = filter2d_(&strip, words.reason());
  if (outcome == OpencvOutcome::done) return;
  const bool is_memory = outcome == OpencvOutcome::out_of_memory;
  throw Error(is_memory ? ErrorCode::out_of_memory : ErrorCode::internal,
              backend::sentence("OpenCV's filter2D fails: ", words.text()));
}

const OpencvLibrary& opencv_library() {
  static const auto& library = *new OpencvLibrary;
  return library;
}

}  // namespace tessera::cpu_tbb
