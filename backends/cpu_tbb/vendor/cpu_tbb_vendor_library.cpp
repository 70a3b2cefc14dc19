// The reasons for which a vendor's library is not used.
#include "vendor/cpu_tbb_vendor_library.h"

#include "backend/sentence.h"

namespace tessera::cpu_tbb {

backend::Verdict vendor_library_opens(std::string_view vendor, const backend::SharedLibrary& library) {
#if defined(TESSERA_THREAD_SANITIZER)
  // The sanitizer does not know a library's own threads: that they write C and then this thread reads it, it would
  // report as a race.
  if (library)
    return backend::Verdict::no(backend::sentence(
        "this build has ThreadSanitizer, which does not see how the threads of ", vendor, " are ordered"));
#endif
  if (library) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence(vendor, " is not there: ", library.why()));
}

}  // namespace tessera::cpu_tbb
