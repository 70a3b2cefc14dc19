// NVTX as a program without NVIDIA's headers speaks it. The profiler's library is given a function that hands out
// tables; in the table of each module it finds, by the numbers of NVTX's functions, the places into which it writes the
// functions that it wants to be called. The numbers and layouts are those of NVTX 3, which NVIDIA's headers
// (nvtx3/nvtxDetail/nvtxTypes.h) keep as they are for the tools' sake.
#include "nvtx.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "backend/shared_library.h"

namespace tessera::detail {
namespace {

using NvtxFunction = void (*)();

/// Numbers of modules. Of all but the first nothing is called here, but a profiler may ask for their tables.
constexpr std::array<unsigned, 7> kFunctionsOfModule{0, 16, 9, 15, 7, 16, 7};
constexpr std::size_t kModuleCore = 1;
constexpr std::size_t kMostFunctions = 16;
/// Numbers of functions in the module core.
constexpr std::size_t kRangePush = 9;
constexpr std::size_t kRangePop = 11;
/// Numbers of tables.
constexpr std::uint32_t kTableOfModules = 1;
constexpr std::uint32_t kTableOfVersion = 3;
constexpr std::uint32_t kNvtxVersion = 3;

using NvtxPlaces = std::array<NvtxFunction, kMostFunctions>;
std::array<NvtxPlaces, kFunctionsOfModule.size()> nvtx_places{};
/// What a profiler reads: pointers to the places, with a null in front, for the number 0, and one at the end.
std::array<std::array<NvtxFunction*, kMostFunctions + 1>, kFunctionsOfModule.size()> nvtx_tables{};

int give_module_table(int module, NvtxFunction*** table, unsigned* size) {
  if (module < 1 || module >= static_cast<int>(kFunctionsOfModule.size())) return 0;
  const auto number = static_cast<std::size_t>(module);
  if (size != nullptr) *size = kFunctionsOfModule[number];
  if (table != nullptr) *table = nvtx_tables[number].data();
  return 1;
}

struct NvtxModules {
  std::size_t size_bytes;
  int (*give_table)(int module, NvtxFunction*** table, unsigned* size);
};
constexpr NvtxModules kNvtxModules{sizeof(NvtxModules), give_module_table};

struct NvtxVersionInfo {
  std::size_t size_bytes;
  std::uint32_t version;
  std::uint32_t reserved;
  void (*note_profiler)(std::uint32_t version);
};
constexpr NvtxVersionInfo kNvtxVersionInfo{sizeof(NvtxVersionInfo), kNvtxVersion, 0, [](std::uint32_t) {}};

const void* give_nvtx_table(std::uint32_t number) {
  if (number == kTableOfModules) return &kNvtxModules;
  if (number == kTableOfVersion) return &kNvtxVersionInfo;
  return nullptr;
}

}  // namespace

bool open_nvtx(const std::string& path) {
  const backend::SharedLibrary library({path});
  int (*initialize)(const void* (*)(std::uint32_t)) = nullptr;
  if (!library || !library.function(initialize, "InitializeInjectionNvtx2")) return false;
  for (std::size_t module = 1; module < kFunctionsOfModule.size(); ++module) {
    for (std::size_t function = 1; function < kFunctionsOfModule[module]; ++function) {
      nvtx_tables[module][function] = &nvtx_places[module][function];
    }
  }
  if (initialize(give_nvtx_table) == 0) return false;
  const NvtxPlaces& core = nvtx_places[kModuleCore];
  return core[kRangePush] != nullptr && core[kRangePop] != nullptr;
}

void push_nvtx_range(const char* name) noexcept {
  static_cast<void>(reinterpret_cast<int (*)(const char*)>(nvtx_places[kModuleCore][kRangePush])(name));
}

void pop_nvtx_range() noexcept {
  static_cast<void>(reinterpret_cast<int (*)()>(nvtx_places[kModuleCore][kRangePop])());
}

}  // namespace tessera::detail
