// Opening oneDNN.
#include "vendor/cpu_tbb_onednn.h"

#include "backend/sentence.h"
#include "vendor/cpu_tbb_vendor_library.h"

namespace tessera::cpu_tbb {

namespace {

/// The beginning of what dnnl_version() returns, the same in versions 2 and 3.
struct OnednnVersion {
  int major;
  int minor;
  int patch;
  const char* hash;
  unsigned cpu_runtime;
};
constexpr unsigned kOpenMp = 2;

}  // namespace

OnednnLibrary::OnednnLibrary() : library_({"libdnnl.so.3", "libdnnl.so.2"}) {
  const OnednnVersion* (*version)() = nullptr;
  if (library_.function(version, "dnnl_version")) {
    major_version_ = version()->major;
    runtime_ = version()->cpu_runtime;
  }
  // Found through the library's own dependency, so it is the OpenMP that the library uses.
  (void)library_.function(set_threads_, "omp_set_num_threads");
  (void)library_.function(get_threads_, "omp_get_max_threads");
}

backend::Verdict OnednnLibrary::check() const {
  using backend::sentence;
  using backend::Verdict;
  if (const Verdict opens = vendor_library_opens("oneDNN", library_); !opens) return opens;
  if (major_version_ == 0) return Verdict::no(sentence(library_.name(), " lacks dnnl_version"));
  if (runtime_ != kOpenMp || set_threads_ == nullptr || get_threads_ == nullptr)
    return Verdict::no(sentence(library_.name(), " was built for the CPU runtime ", runtime_, ", but only OpenMP (",
                                kOpenMp, ") lets a caller set the number of threads"));
  return Verdict::yes();
}

const OnednnLibrary& onednn_library() {
  static const auto& library = *new OnednnLibrary;
  return library;
}

}  // namespace tessera::cpu_tbb
