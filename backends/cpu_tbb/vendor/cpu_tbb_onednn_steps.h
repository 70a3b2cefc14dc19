// What a chain of oneDNN's primitives is made of: its C interface, version 2, as far as a chain needs it, declared here
// so that the build does not need its header, and a step, which is one primitive with its choice of layouts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tessera/ops/cnn_layer.h>

#include "vendor/cpu_tbb_onednn.h"

namespace tessera::cpu_tbb::onednn {

/// Of the library's descriptors only the size matters here, because it alone reads and writes them: they are given more
/// bytes than version 2.6 needs (696 and 5976).
template <std::size_t kBytes>
struct alignas(16) Room {
  std::array<std::byte, kBytes> bytes{};
};
using MemoryDescriptor = Room<4096>;
using OperationDescriptor = Room<32768>;
using Sizes = std::array<std::int64_t, 12>;

/// An operand of a run.
struct Argument {
  int kind;
  void* memory;
};

inline constexpr int kInference = 96;
inline constexpr int kDirectConvolution = 1;
inline constexpr int kMaxPool = 511;
inline constexpr int kSource = 1;
inline constexpr int kDestination = 17;
inline constexpr int kWeights = 33;
inline constexpr int kBias = 41;
inline constexpr int kSourceLayout = 129;
inline constexpr int kWeightsLayout = 131;
inline constexpr int kDestinationLayout = 133;
inline constexpr unsigned kInOrder = 1;

/// The functions, opened on first use and for the life of the process.
struct Functions {
  using Descriptor = const void*;  ///< a MemoryDescriptor of ours, or the library's own
  int (*engine_create)(void**, int, std::size_t) = nullptr;
  int (*stream_create)(void**, void*, unsigned) = nullptr;
  int (*stream_wait)(void*) = nullptr;
  int (*stream_destroy)(void*) = nullptr;
  int (*layout_by_strides)(MemoryDescriptor*, int, const Sizes&, int, const Sizes&) = nullptr;
  int (*layout_by_tag)(MemoryDescriptor*, int, const Sizes&, int, int) = nullptr;
  int (*layout_equal)(Descriptor, Descriptor) = nullptr;
  std::size_t (*layout_size)(Descriptor) = nullptr;
  int (*memory_create)(void**, Descriptor, void*, void*) = nullptr;
  int (*memory_destroy)(void*) = nullptr;
  int (*attributes_create)(void**) = nullptr;
  int (*attributes_destroy)(void*) = nullptr;
  int (*attributes_set_scratchpad)(void*, int) = nullptr;
  int (*attributes_set_post)(void*, const void*) = nullptr;
  int (*post_create)(void**) = nullptr;
  int (*post_destroy)(void*) = nullptr;
  int (*post_append)(void*, float, int, float, float) = nullptr;
  int (*convolution)(OperationDescriptor*, int, int, Descriptor, Descriptor, Descriptor, Descriptor, const Sizes&,
                     const Sizes&, const Sizes&) = nullptr;
  int (*pool)(OperationDescriptor*, int, int, Descriptor, Descriptor, const Sizes&, const Sizes&, const Sizes&,
              const Sizes&) = nullptr;
  int (*choose)(void**, const OperationDescriptor*, const void*, void*, const void*) = nullptr;
  int (*choose_reorder)(void**, Descriptor, void*, Descriptor, void*, const void*) = nullptr;
  Descriptor (*layout_of)(const void*, int, int) = nullptr;
  int (*choice_destroy)(void*) = nullptr;
  int (*primitive_create)(void**, const void*) = nullptr;
  int (*primitive_destroy)(void*) = nullptr;
  int (*execute)(const void*, void*, int, const Argument*) = nullptr;
  void* engine = nullptr;
  bool complete = false;

  Functions();
};
[[nodiscard]] const Functions& functions();

/// Error unsupported, with the status, if it is none of success.
void expect(int status, const char* what);

/// An object of oneDNN's that dies with this one.
class Handle {
 public:
  explicit Handle(int (*destroy)(void*)) : destroy_(destroy) {}
  Handle(Handle&& other) noexcept : destroy_(other.destroy_), object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (object_ != nullptr) destroy_(object_);
  }
  [[nodiscard]] void** room() noexcept { return &object_; }
  [[nodiscard]] void* get() const noexcept { return object_; }

 private:
  int (*destroy_)(void*);
  void* object_ = nullptr;
};

/// For the life of this object the library computes on so many threads when this thread calls it.
class Threads {
 public:
  explicit Threads(int threads) : before_(onednn_library().threads()) { onednn_library().set_threads(threads); }
  ~Threads() { onednn_library().set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

/// What a primitive is made with.
[[nodiscard]] Handle attributes(bool relu);

/// One primitive with its choice of layouts.
class Step {
 public:
  Step(const OperationDescriptor& operation, const Handle& with, const char* what);
  /// A change of layout.
  Step(Functions::Descriptor from, Functions::Descriptor to);
  void compile();
  [[nodiscard]] Functions::Descriptor layout(int which) const;
  [[nodiscard]] std::size_t scratchpad_bytes() const;

  /// `operands`: kind, layout and address of each.
  struct Operand {
    int kind;
    Functions::Descriptor layout;
    void* address;
  };
  void run(void* stream, std::vector<Operand> operands, void* scratchpad) const;

 private:
  Handle choice_;
  Handle primitive_;
};

/// A layout that the library may choose.
[[nodiscard]] MemoryDescriptor any_layout(const Sizes& sizes, int count);
[[nodiscard]] MemoryDescriptor packed(const Sizes& sizes, int count, const Sizes& strides);
[[nodiscard]] MemoryDescriptor images(const Sizes& sizes, Layout layout);

}  // namespace tessera::cpu_tbb::onednn
