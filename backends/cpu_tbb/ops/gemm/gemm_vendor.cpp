// The reasons for which a vendor's library is not used.
#include "ops/gemm/gemm_vendor.h"

#include <limits>
#include <utility>

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

backend::Verdict vendor_counts_in_int(std::string_view vendor, const Gemm& problem) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  const std::pair<const char*, std::int64_t> sizes[] = {{"m", problem.m},     {"n", problem.n},
                                                        {"k", problem.k},     {"lda", problem.lda},
                                                        {"ldb", problem.ldb}, {"ldc", problem.ldc}};
  for (const auto& [name, size] : sizes) {
    if (size > kLargest)
      return backend::Verdict::no(
          backend::sentence(name, " of gemm is ", size, ", but ", vendor, " takes at most ", kLargest));
  }
  return backend::Verdict::yes();
}

}  // namespace tessera::cpu_tbb
