// cuBLAS, opened at run time if it is there: the functions that this backend calls, and the handle of a context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "cuda_api.h"
#include "cuda_context.h"

namespace tessera::cuda {

/// Declared here and not taken from NVIDIA's header, so that the build does not need it.
using CublasHandlePointer = struct CublasContext*;
inline constexpr int kCublasAsStored = 0;
inline constexpr int kCublasTransposed = 1;

template <class T>
using CublasGemm = int(CublasHandlePointer handle, int transpose_a, int transpose_b, std::int64_t m, std::int64_t n,
                       std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb,
                       const T* beta, T* c, std::int64_t ldc);
template <class T>
using CublasGemmBatch = int(CublasHandlePointer handle, int transpose_a, int transpose_b, std::int64_t m,
                            std::int64_t n, std::int64_t k, const T* alpha, const T* a, std::int64_t lda,
                            long long stride_a, const T* b, std::int64_t ldb, long long stride_b, const T* beta, T* c,
                            std::int64_t ldc, long long stride_c, std::int64_t batch);

/// cuBLAS's numbers of types, of the sums' type and of the algorithm that it chooses by itself.
inline constexpr int kCublasInt8 = 3;
inline constexpr int kCublasInt32 = 10;
inline constexpr int kCublasSumsInt32 = 72;
inline constexpr int kCublasOwnChoice = -1;
using CublasGemmOfTypes = int(CublasHandlePointer handle, int transpose_a, int transpose_b, std::int64_t m,
                              std::int64_t n, std::int64_t k, const void* alpha, const void* a, int type_a,
                              std::int64_t lda, const void* b, int type_b, std::int64_t ldb, const void* beta, void* c,
                              int type_c, std::int64_t ldc, int type_of_sums, int algorithm);

/// How float32 products are made: as they are, or of numbers rounded to TF32's 11 bits by tensor cores.
enum class CublasMath : int { exact = 0, tf32 = 3 };

/// What cuBLAS recommends for Hopper, and more than it takes elsewhere. cuBLAS promises the same bits on every run only
/// to those who bring a workspace.
inline constexpr std::size_t kCublasWorkspaceBytes = std::size_t{32} << 20;

/// libcublas.so of CUDA 12 or newer. Either all functions are there, or `why` says what is missing.
struct CublasApi {
  int (*create)(CublasHandlePointer*) = nullptr;
  int (*destroy)(CublasHandlePointer) = nullptr;
  int (*set_stream)(CublasHandlePointer, CUstream) = nullptr;
  int (*set_workspace)(CublasHandlePointer, void*, std::size_t) = nullptr;
  int (*set_math_mode)(CublasHandlePointer, int) = nullptr;
  int (*get_property)(int which, int* value) = nullptr;
  const char* (*status_string)(int) = nullptr;
  CublasGemm<float>* sgemm = nullptr;
  CublasGemm<double>* dgemm = nullptr;
  CublasGemmBatch<float>* sgemm_batch = nullptr;
  CublasGemmBatch<double>* dgemm_batch = nullptr;
  CublasGemmOfTypes* gemm_of_types = nullptr;

  std::string file;  ///< which one was opened
  std::string why;   ///< "" if usable, else a sentence
  [[nodiscard]] bool usable() const noexcept { return why.empty(); }

  /// Throws unless the status is 0.
  void check(int status, const char* doing) const;
};

/// Opened on the first call, the same table ever after. From any thread.
[[nodiscard]] const CublasApi& cublas_api();

/// A companion of a context (Context::companion). Used by one thread at a time: lock `mutex` around every call.
/// What use() does not set stands at cuBLAS's defaults: no atomics, alpha and beta in the host's memory.
class CublasHandle final : public Companion {
 public:
  explicit CublasHandle(const Context& context);
  ~CublasHandle() override;

  [[nodiscard]] CublasHandlePointer get() const noexcept { return handle_; }
  /// What is called from here on runs on this stream, with kCublasWorkspaceBytes of the card's memory.
  void use(CUstream stream, void* workspace, CublasMath math = CublasMath::exact) const;
  std::mutex mutex;

 private:
  CublasHandlePointer handle_ = nullptr;
};

}  // namespace tessera::cuda
