// Runs NVRTC and keeps its log. The cache on disk is consulted by whoever can also tell whether an image loads.
#include "cuda_compiler.h"

#include <algorithm>
#include <string_view>

#include "backend/sentence.h"
#include "cuda_api.h"
#include "cuda_error.h"

namespace tessera::cuda {
namespace {

const NvrtcApi& usable_nvrtc() {
  const NvrtcApi& api = nvrtc_api();
  if (!api.usable()) throw Error(ErrorCode::unavailable, api.why);
  return api;
}

std::vector<std::string> split_at_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  std::vector<std::string> words;
  for (std::size_t begin = text.find_first_not_of(kSpaces); begin != text.npos;
       begin = text.find_first_not_of(kSpaces, begin)) {
    const std::size_t end = std::min(text.find_first_of(kSpaces, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

// An nvrtcProgram that does not leak when something throws.
class Program {
 public:
  Program(const NvrtcApi& api, const std::string& source, const std::string& file_name) : api_(api) {
    check(api_.nvrtcCreateProgram(&program_, source.c_str(), file_name.c_str(), 0, nullptr, nullptr),
          backend::sentence("handing ", file_name, " to the compiler"));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { api_.nvrtcDestroyProgram(&program_); }

  void compile(const std::vector<std::string>& options, const std::string& name) {
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const std::string& option : options) pointers.push_back(option.c_str());
    const nvrtcResult result = api_.nvrtcCompileProgram(program_, static_cast<int>(pointers.size()), pointers.data());
    if (result != NVRTC_SUCCESS) throw nvrtc_error(result, backend::sentence("compiling kernel ", name), log());
  }

  [[nodiscard]] std::vector<std::byte> image(bool as_ptx) const {
    std::size_t size = 0;
    check(as_ptx ? api_.nvrtcGetPTXSize(program_, &size) : api_.nvrtcGetCUBINSize(program_, &size),
          "asking for the size of the compiled kernel");
    std::vector<std::byte> bytes(size);
    char* begin = reinterpret_cast<char*>(bytes.data());
    check(as_ptx ? api_.nvrtcGetPTX(program_, begin) : api_.nvrtcGetCUBIN(program_, begin),
          "fetching the compiled kernel");
    return bytes;
  }

 private:
  static void check(nvrtcResult result, const std::string& doing) {
    if (result != NVRTC_SUCCESS) throw nvrtc_error(result, doing);
  }

  [[nodiscard]] std::string log() const {
    std::size_t size = 0;  // counts the 0 behind the text
    if (api_.nvrtcGetProgramLogSize(program_, &size) != NVRTC_SUCCESS || size <= 1) return {};
    std::string text(size, '\0');
    if (api_.nvrtcGetProgramLog(program_, text.data()) != NVRTC_SUCCESS) return {};
    text.resize(text.find('\0') == text.npos ? size : text.find('\0'));
    return text;
  }

  const NvrtcApi& api_;
  nvrtcProgram program_ = nullptr;
};

bool names_architecture(std::string_view option) {
  return option.starts_with("--gpu-architecture") || option.starts_with("-arch");
}

}  // namespace

std::string architecture_for(int major, int minor) {
  const NvrtcApi& api = usable_nvrtc();
  int count = 0;
  if (const nvrtcResult result = api.nvrtcGetNumSupportedArchs(&count); result != NVRTC_SUCCESS) {
    throw nvrtc_error(result, "asking NVRTC for its architectures");
  }
  std::vector<int> known(static_cast<std::size_t>(std::max(count, 0)));
  if (const nvrtcResult result = api.nvrtcGetSupportedArchs(known.data()); result != NVRTC_SUCCESS) {
    throw nvrtc_error(result, "asking NVRTC for its architectures");
  }
  const int wanted = major * 10 + minor;
  if (std::find(known.begin(), known.end(), wanted) != known.end()) {
    // From 9.0 on, instructions of one architecture alone (wgmma, setmaxnreg) need the suffix; it excludes nothing.
    return "sm_" + std::to_string(wanted) + (wanted >= 90 ? "a" : "");
  }
  int newest = 0;
  for (const int architecture : known) {
    if (architecture < wanted) newest = std::max(newest, architecture);
  }
  if (newest == 0) {
    throw Error(ErrorCode::unsupported,
                backend::sentence("the card has compute capability ", major, ".", minor, ", which NVRTC ", api.major,
                                  ".", api.minor, " no longer compiles for"));
  }
  return "compute_" + std::to_string(newest);
}

std::vector<std::byte> compile_to_cubin(const std::string& source, const std::string& options,
                                        const std::string& architecture, const std::string& name) {
  const NvrtcApi& api = usable_nvrtc();
  std::vector<std::string> words = split_at_spaces(options);
  for (const std::string& word : words) {
    if (names_architecture(word)) {
      throw Error(ErrorCode::invalid_argument,
                  backend::sentence("cuda_options of kernel ", name, " holds ", word,
                                    ", but the architecture is that of the device, ", architecture));
    }
  }
  words.insert(words.begin(), "--gpu-architecture=" + architecture);
  Program program(api, source, name + ".cu");
  program.compile(words, name);
  return program.image(architecture.starts_with("compute_"));
}

std::string cache_key(const std::string& source, const std::string& options, const std::string& architecture,
                      const std::string& name) {
  // NVRTC does not say which files it read, so what might include any is compiled anew. The word alone is enough: a
  // comment that holds it costs time, never the right answer.
  if (source.find("include") != source.npos || options.find("include") != options.npos) return {};
  const NvrtcApi& api = usable_nvrtc();
  return "nvrtc " + std::to_string(api.major) + "." + std::to_string(api.minor) + "\n" + architecture + "\n" + options +
         "\n" + name + "\n" + source;
}

}  // namespace tessera::cuda
