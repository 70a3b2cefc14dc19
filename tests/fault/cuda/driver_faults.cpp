// Puts the plan's faults before every function of the driver's table and counts the objects that it makes.
#include "fault/cuda/driver_faults.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "cuda_api.h"
#include "cuda_error.h"

namespace tessera::fault {
namespace {

/// A function that makes or releases an object.
struct Maker {
  std::string_view function;
  const char* kind;
  int change;
};
constexpr std::array<Maker, 12> kMakers{{{"cuDevicePrimaryCtxRetain", "context", 1},
                                         {"cuDevicePrimaryCtxRelease", "context", -1},
                                         {"cuMemAlloc", "memory", 1},
                                         {"cuMemFree", "memory", -1},
                                         {"cuMemHostAlloc", "pinned memory", 1},
                                         {"cuMemFreeHost", "pinned memory", -1},
                                         {"cuStreamCreate", "stream", 1},
                                         {"cuStreamDestroy", "stream", -1},
                                         {"cuEventCreate", "event", 1},
                                         {"cuEventDestroy", "event", -1},
                                         {"cuModuleLoadData", "module", 1},
                                         {"cuModuleUnload", "module", -1}}};

const Maker* maker(std::string_view function) {
  for (const Maker& candidate : kMakers) {
    if (candidate.function == function) return &candidate;
  }
  return nullptr;
}

class Books {
 public:
  void plan(const FaultPlan& plan) {
    const std::lock_guard lock(mutex_);
    plan_ = plan;
    calls_ = 0;
  }

  /// What the call answers without reaching the driver; CUDA_SUCCESS lets it through.
  CUresult before(const char* function) {
    bool ends_context = false;
    CUresult answer = CUDA_SUCCESS;
    {
      const std::lock_guard lock(mutex_);
      if (*plan_.function != 0 && std::strcmp(plan_.function, function) != 0) return CUDA_SUCCESS;
      ++calls_;
      if (plan_.first == 0 || calls_ < plan_.first || calls_ > plan_.last) return CUDA_SUCCESS;
      answer = static_cast<CUresult>(plan_.code);
      if (const Maker* released = maker(function); released != nullptr && released->change < 0) ++refused_;
      ends_context = calls_ == plan_.first && plan_.last > plan_.first && cuda::means_lost(answer);
    }
    // A context that is dead runs nothing. This one lives, so that what it runs is waited for.
    if (ends_context) wait_for_the_card();
    return answer;
  }

  void after(const char* function, CUresult answer) {
    const Maker* const made = maker(function);
    if (made == nullptr) return;
    const std::lock_guard lock(mutex_);
    if (answer == CUDA_SUCCESS) {
      objects_[made->kind] += made->change;
    } else if (made->change < 0) {
      ++refused_;
    }
  }

  long calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  long objects() {
    const std::lock_guard lock(mutex_);
    long sum = 0;
    for (const auto& [kind, count] : objects_) sum += count;
    return sum;
  }
  long refused() {
    const std::lock_guard lock(mutex_);
    return refused_;
  }
  const char* describe() {
    const std::lock_guard lock(mutex_);
    text_.clear();
    for (const auto& [kind, count] : objects_) {
      if (count != 0) text_ += (text_.empty() ? "" : ", ") + kind + " " + std::to_string(count);
    }
    return text_.c_str();
  }

 private:
  static void wait_for_the_card() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return;
    if (void* const function = dlsym(library, "cuCtxSynchronize"); function != nullptr) {
      reinterpret_cast<decltype(&::cuCtxSynchronize)>(function)();
    }
  }

  std::mutex mutex_;
  FaultPlan plan_;
  long calls_ = 0;
  long refused_ = 0;
  std::map<std::string, long> objects_;
  std::string text_;
};

Books& books() {
  static Books* const the_books = new Books;
  return *the_books;
}

/// The function that stands in the table in place of the driver's; one for each name.
template <class Name, class Function>
struct Wrapper;
template <class Name, class... Arguments>
struct Wrapper<Name, CUresult (*)(Arguments...)> {
  static inline CUresult (*driver)(Arguments...) = nullptr;

  static CUresult call(Arguments... arguments) {
    if (const CUresult answer = books().before(Name::text()); answer != CUDA_SUCCESS) return answer;
    const CUresult answer = driver(arguments...);
    books().after(Name::text(), answer);
    return answer;
  }
  static void put_before(CUresult (*&function)(Arguments...)) {
    if (function == nullptr) return;
    driver = function;
    function = call;
  }
};

constexpr DriverFaults kFaults{[](const FaultPlan& plan) { books().plan(plan); }, [] { return books().calls(); },
                               [] { return books().objects(); }, [] { return books().refused(); },
                               [] { return books().describe(); }};

}  // namespace

extern "C" __attribute__((visibility("default"))) const DriverFaults* tessera_driver_faults();
const DriverFaults* tessera_driver_faults() {
  return &kFaults;
}

}  // namespace tessera::fault

namespace tessera::cuda {

// The name as NVIDIA documents it, taken before cuda.h maps it to a versioned one.
#define TESSERA_CUDA_WRAP(name)                                     \
  {                                                                 \
    struct Name {                                                   \
      static const char* text() { return #name; }                   \
    };                                                              \
    fault::Wrapper<Name, decltype(api.name)>::put_before(api.name); \
  }

void wrap_driver(DriverApi& api) {
  fault::FaultPlan plan;
  const char* const text = std::getenv(fault::kFaultsVariable);
  if (text != nullptr && std::sscanf(text, "%ld:%ld:%d", &plan.first, &plan.last, &plan.code) == 3) {
    fault::books().plan(plan);
  }
  TESSERA_CUDA_DRIVER_FUNCTIONS(TESSERA_CUDA_WRAP)
  TESSERA_CUDA_WRAP(cuEventElapsedTime)
  TESSERA_CUDA_WRAP(cuStreamWriteValue32)
  TESSERA_CUDA_WRAP(cuFuncGetParamInfo)
  TESSERA_CUDA_WRAP(cuFuncGetName)
  TESSERA_CUDA_WRAP(cuOccupancyMaxActiveBlocksPerMultiprocessor)
}

#undef TESSERA_CUDA_WRAP

}  // namespace tessera::cuda
