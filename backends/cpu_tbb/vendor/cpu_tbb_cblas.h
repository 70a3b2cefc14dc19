// The C interface to BLAS, of libraries that are opened when the program runs, if they are there: OpenBLAS and BLIS.
//
// Both keep their number of threads for the whole process. It is set to the device's for each call and put back after,
// and calls are made one at a time, so that two devices, or the application, do not disturb each other.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backend/shared_library.h"
#include "backend/variant.h"

namespace tessera::cpu_tbb {

template <class T>
using CblasGemm = void(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha, const T* a, int lda,
                       const T* b, int ldb, T beta, T* c, int ldc);

/// One such library. Count is its type for a number of threads.
template <class Count>
class CblasLibrary {
 public:
  CblasLibrary(std::string_view vendor, const std::vector<std::string>& names, const char* get_threads,
               const char* set_threads);

  /// No if it did not open, or lacks a function.
  [[nodiscard]] backend::Verdict check() const;
  [[nodiscard]] std::string_view vendor() const noexcept { return vendor_; }

  /// C = alpha * op(A) * op(B) + beta * C, rows first. Only after check() said yes.
  template <class T>
  void multiply(int threads, bool transpose_a, bool transpose_b, int m, int n, int k, T alpha, const T* a, int lda,
                const T* b, int ldb, T beta, T* c, int ldc) {
    constexpr int kRowMajor = 101;
    constexpr int kAsStored = 111;
    constexpr int kTransposed = 112;
    const std::lock_guard one_at_a_time(mutex_);
    const Count threads_before = get_threads_();
    if (threads_before != threads) set_threads_(static_cast<Count>(threads));
    function_for(T())(kRowMajor, transpose_a ? kTransposed : kAsStored, transpose_b ? kTransposed : kAsStored, m, n, k,
                      alpha, a, lda, b, ldb, beta, c, ldc);
    if (threads_before != threads && threads_before > 0) set_threads_(threads_before);
  }

 private:
  [[nodiscard]] CblasGemm<float>* function_for(float) const noexcept { return multiply_float32_; }
  [[nodiscard]] CblasGemm<double>* function_for(double) const noexcept { return multiply_float64_; }

  std::string_view vendor_;
  backend::SharedLibrary library_;
  bool complete_ = false;
  std::mutex mutex_;
  CblasGemm<float>* multiply_float32_ = nullptr;
  CblasGemm<double>* multiply_float64_ = nullptr;
  Count (*get_threads_)() = nullptr;
  void (*set_threads_)(Count) = nullptr;
};

using OpenBlas = CblasLibrary<int>;
using Blis = CblasLibrary<std::int64_t>;

/// Those of the process, opened on first use and never closed: queues may still run while static objects die.
[[nodiscard]] OpenBlas& open_blas();
[[nodiscard]] Blis& blis();

}  // namespace tessera::cpu_tbb
