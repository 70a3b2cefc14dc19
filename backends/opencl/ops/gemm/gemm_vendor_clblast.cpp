// The variant "vendor_clblast": matrix multiplication by CLBlast, opened at run time if it is there. A yardstick for
// our own variants: it stands behind them in the list, so that it is never taken unless asked for.
//
// CLBlast compiles its kernels when they are first needed and keeps them, and its tables, for the whole process. Its
// calls are made one at a time. It multiplies by alpha = 0, which lets NaN in A and B through, and refuses k = 0: both
// are left to our naive kernel. beta = 0 does not read C.
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

#include "backend/sentence.h"
#include "backend/shared_library.h"
#include "opencl_buffer.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

constexpr int kRowMajor = 101;
constexpr int kAsStored = 111;
constexpr int kTransposed = 112;

/// CLBlast<type>gemm and CLBlast<type>gemmStridedBatched of its C interface; the answer is an OpenCL code or its own.
template <class T>
using ClblastGemm = int(int layout, int transpose_a, int transpose_b, std::size_t m, std::size_t n, std::size_t k,
                        T alpha, cl_mem a, std::size_t a_offset, std::size_t lda, cl_mem b, std::size_t b_offset,
                        std::size_t ldb, T beta, cl_mem c, std::size_t c_offset, std::size_t ldc,
                        cl_command_queue* queue, cl_event* event);
template <class T>
using ClblastGemmBatch = int(int layout, int transpose_a, int transpose_b, std::size_t m, std::size_t n, std::size_t k,
                             T alpha, cl_mem a, std::size_t a_offset, std::size_t lda, std::size_t stride_a, cl_mem b,
                             std::size_t b_offset, std::size_t ldb, std::size_t stride_b, T beta, cl_mem c,
                             std::size_t c_offset, std::size_t ldc, std::size_t stride_c, std::size_t batch,
                             cl_command_queue* queue, cl_event* event);

/// Opened on first use and for the life of the process.
class Clblast {
 public:
  Clblast() : library_({"libclblast.so.1"}) {
    complete_ = library_.function(one_float32_, "CLBlastSgemm") && library_.function(one_float64_, "CLBlastDgemm") &&
                library_.function(batch_float32_, "CLBlastSgemmStridedBatched") &&
                library_.function(batch_float64_, "CLBlastDgemmStridedBatched");
  }

  [[nodiscard]] Verdict check() const {
    if (!library_) return Verdict::no(sentence("CLBlast is not there: ", library_.why()));
    if (!complete_) return Verdict::no(sentence(library_.name(), " lacks a function of CLBlast's C interface"));
    return Verdict::yes();
  }
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  [[nodiscard]] ClblastGemm<cl_float>* one(cl_float) const noexcept { return one_float32_; }
  [[nodiscard]] ClblastGemm<cl_double>* one(cl_double) const noexcept { return one_float64_; }
  [[nodiscard]] ClblastGemmBatch<cl_float>* batch(cl_float) const noexcept { return batch_float32_; }
  [[nodiscard]] ClblastGemmBatch<cl_double>* batch(cl_double) const noexcept { return batch_float64_; }

 private:
  backend::SharedLibrary library_;
  bool complete_ = false;
  std::mutex mutex_;
  ClblastGemm<cl_float>* one_float32_ = nullptr;
  ClblastGemm<cl_double>* one_float64_ = nullptr;
  ClblastGemmBatch<cl_float>* batch_float32_ = nullptr;
  ClblastGemmBatch<cl_double>* batch_float64_ = nullptr;
};

// Never destroyed: queues may still run while static objects die.
Clblast& clblast() {
  static auto& library = *new Clblast;
  return library;
}

/// The largest number that its kernels, which count in 32 bits, can use as an element's index.
constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

/// Elements from the first to the last of an operand; the front half has seen that they can be counted.
std::int64_t extent(std::int64_t rows, std::int64_t columns, std::int64_t leading, std::int64_t batch,
                    std::int64_t stride) {
  return rows == 0 || columns == 0 || batch == 0 ? 0 : (batch - 1) * stride + (rows - 1) * leading + columns;
}
std::array<std::int64_t, 3> extents_of(const Gemm& p) {
  return {p.transpose_a ? extent(p.k, p.m, p.lda, p.batch, p.stride_a) : extent(p.m, p.k, p.lda, p.batch, p.stride_a),
          p.transpose_b ? extent(p.n, p.k, p.ldb, p.batch, p.stride_b) : extent(p.k, p.n, p.ldb, p.batch, p.stride_b),
          extent(p.m, p.n, p.ldc, p.batch, p.stride_c)};
}

/// An operand as the library takes it: a buffer, or a part of one that begins near enough, and an offset.
struct Place {
  Handle<cl_mem> part;
  cl_mem memory = nullptr;
  std::size_t offset = 0;
};

class ClblastKernel final : public backend::Kernel {
 public:
  ClblastKernel(std::shared_ptr<OpenclContext> context, const Gemm& computed)
      : context_(std::move(context)), problem_(computed), extents_(extents_of(computed)) {}

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& /*workspace*/) override {
    std::array<Place, 3> places;
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = place_of(operands[i], extents_[i]);
    const std::lock_guard one_at_a_time(clblast().mutex());
    static_cast<OpenclQueue&>(queue).launch_library("CLBlast's gemm", [&](cl_command_queue native_queue) {
      return problem_.type == DataType::float64 ? call<cl_double>(native_queue, places)
                                                : call<cl_float>(native_queue, places);
    });
  }

 private:
  [[nodiscard]] Place place_of(const backend::Slice& slice, std::int64_t elements) const {
    const std::size_t element = size_bytes(problem_.type);
    Place place{{}, native(slice), slice.offset_bytes / element};
    if (place.offset + static_cast<std::size_t>(elements) <= static_cast<std::size_t>(kLargest)) return place;
    const std::size_t alignment = context_->facts().base_alignment_bytes;
    const std::size_t origin = slice.offset_bytes / alignment * alignment;
    const std::size_t in_part = slice.offset_bytes - origin;
    place.part = sub_buffer(*context_, {slice.buffer, origin, in_part + static_cast<std::size_t>(elements) * element});
    if (place.part) place.memory = place.part.get();
    place.offset = in_part / element;
    return place;
  }

  template <class T>
  int call(cl_command_queue queue, const std::array<Place, 3>& places) const {
    const auto& [a, b, c] = places;
    const Gemm& p = problem_;
    const int transpose_a = p.transpose_a ? kTransposed : kAsStored;
    const int transpose_b = p.transpose_b ? kTransposed : kAsStored;
    const auto m = static_cast<std::size_t>(p.m);
    const auto n = static_cast<std::size_t>(p.n);
    const auto k = static_cast<std::size_t>(p.k);
    const auto lda = static_cast<std::size_t>(p.lda);
    const auto ldb = static_cast<std::size_t>(p.ldb);
    const auto ldc = static_cast<std::size_t>(p.ldc);
    const auto alpha = static_cast<T>(p.alpha);
    const auto beta = static_cast<T>(p.beta);
    if (p.batch == 1) {
      return clblast().one(T())(kRowMajor, transpose_a, transpose_b, m, n, k, alpha, a.memory, a.offset, lda, b.memory,
                                b.offset, ldb, beta, c.memory, c.offset, ldc, &queue, nullptr);
    }
    return clblast().batch(T())(kRowMajor, transpose_a, transpose_b, m, n, k, alpha, a.memory, a.offset, lda,
                                static_cast<std::size_t>(p.stride_a), b.memory, b.offset, ldb,
                                static_cast<std::size_t>(p.stride_b), beta, c.memory, c.offset, ldc,
                                static_cast<std::size_t>(p.stride_c), static_cast<std::size_t>(p.batch), &queue,
                                nullptr);
  }

  std::shared_ptr<OpenclContext> context_;
  Gemm problem_;
  std::array<std::int64_t, 3> extents_;
};

/// Nothing is left for the library: an empty C, or nothing to add up.
bool needs_no_products(const Gemm& computed) {
  return computed.k == 0 || computed.m == 0 || computed.n == 0 || computed.batch == 0;
}

Verdict check(const Gemm& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (Verdict verdict = check_gemm_type(problem, facts); !verdict) return verdict;
  if (facts.info.driver == "Oclgrind") {
    return Verdict::no("'" + facts.info.name + "' looks for faults in kernels, and CLBlast's are not ours to mend");
  }
  const char* names[] = {"A", "B", "C"};
  const std::array<std::int64_t, 3> extents = extents_of(problem);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] > kLargest) {
      return Verdict::no(sentence(names[i], " of gemm has ", extents[i],
                                  " elements from its first to its last, but CLBlast counts to ", kLargest));
    }
  }
  if (needs_no_products(gemm_as_computed(problem))) return gemm_naive().check(problem, device);
  return clblast().check();
}

/// Our naive kernel as it is preferred.
std::unique_ptr<backend::Kernel> make_naive(const Gemm& problem, backend::Device& device) {
  const backend::Variant<Gemm> naive = gemm_naive();
  Tuning tuning;
  for (const Tunable& tunable : naive.tunables(problem, device)) tuning[tunable.name] = tunable.preferred;
  return naive.make(problem, device, tuning);
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& /*tuning*/) {
  const Gemm computed = gemm_as_computed(problem);
  if (needs_no_products(computed)) return make_naive(problem, device);
  return std::make_unique<ClblastKernel>(native(device).context(), computed);
}

}  // namespace

backend::Variant<Gemm> gemm_vendor_clblast() {
  return {
      .name = "vendor_clblast",
      .summary = "CLBlast, opened at run time if it is there",
      .check = check,
      .tunables = nullptr,
      .make = make,
      .pays = [](const Gemm&, const backend::Device&) { return backend::Verdict::no("it is taken by name alone"); }};
}

}  // namespace tessera::opencl
