// Opening OpenBLAS and BLIS.
#include "vendor/cpu_tbb_cblas.h"

#include "backend/sentence.h"
#include "vendor/cpu_tbb_vendor_library.h"

namespace tessera::cpu_tbb {

template <class Count>
CblasLibrary<Count>::CblasLibrary(std::string_view vendor, const std::vector<std::string>& names,
                                  const char* get_threads, const char* set_threads)
    : vendor_(vendor), library_(names) {
  complete_ = library_.function(multiply_float32_, "cblas_sgemm") &&
              library_.function(multiply_float64_, "cblas_dgemm") && library_.function(get_threads_, get_threads) &&
              library_.function(set_threads_, set_threads);
}

template <class Count>
backend::Verdict CblasLibrary<Count>::check() const {
  if (const backend::Verdict opens = vendor_library_opens(vendor_, library_); !opens) return opens;
  if (complete_) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence(library_.name(), " lacks a function of the C interface to BLAS"));
}

template class CblasLibrary<int>;
template class CblasLibrary<std::int64_t>;

OpenBlas& open_blas() {
  static auto& library =
      *new OpenBlas("OpenBLAS", {"libopenblas.so.0"}, "openblas_get_num_threads", "openblas_set_num_threads");
  return library;
}
Blis& blis() {
  static auto& library =
      *new Blis("BLIS", {"libblis.so.4", "libblis.so.3"}, "bli_thread_get_num_threads", "bli_thread_set_num_threads");
  return library;
}

}  // namespace tessera::cpu_tbb
