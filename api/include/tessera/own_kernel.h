// The program's own kernels: one declaration, a source for each backend that the program serves, and the arguments of a
// launch. OpenCL C goes to the driver, CUDA C++ to NVRTC, and the CPU takes a C++ callable that runs once per
// work-group.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/buffer.h>
#include <tessera/error.h>
#include <tessera/export.h>
#include <tessera/kernel.h>
#include <tessera/types.h>

namespace tessera {

/// Three extents, x first; what is not named is 1.
struct Extent3 {
  std::uint64_t x = 1;
  std::uint64_t y = 1;
  std::uint64_t z = 1;
  [[nodiscard]] constexpr std::uint64_t volume() const noexcept { return x * y * z; }
  bool operator==(const Extent3&) const = default;
};

/// How many work-groups, and how many work-items in each.
struct LaunchShape {
  Extent3 groups;
  Extent3 group_size;
};

/// What kind of thing a parameter of an own kernel is.
enum class ParameterKind : std::uint8_t {
  input,   ///< a buffer that the kernel only reads
  output,  ///< a buffer that the kernel writes, and may read
  scalar,
  local,  ///< memory that one work-group shares while it runs
};
[[nodiscard]] TESSERA_API std::string_view to_string(ParameterKind kind) noexcept;

/// One parameter of an own kernel, in the order of the kernel's own parameter list.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::input;
  DataType type = DataType::float32;
};

template <class T>
[[nodiscard]] Parameter input(std::string name) {
  return {std::move(name), ParameterKind::input, data_type_of<T>};
}
template <class T>
[[nodiscard]] Parameter output(std::string name) {
  return {std::move(name), ParameterKind::output, data_type_of<T>};
}
template <class T>
[[nodiscard]] Parameter scalar(std::string name) {
  return {std::move(name), ParameterKind::scalar, data_type_of<T>};
}
/// In CUDA C++ a local parameter is a pointer into the dynamic shared memory, passed as its offset: see KernelSource.
template <class T>
[[nodiscard]] Parameter local(std::string name) {
  return {std::move(name), ParameterKind::local, data_type_of<T>};
}

/// Which work-item of a group, and of the whole launch.
struct WorkItem {
  Extent3 local;
  Extent3 global;
};

/// Where a CPU function finds itself: one work-group of the launch.
struct WorkGroup {
  Extent3 id;      ///< of this group, each from 0
  Extent3 groups;  ///< how many there are
  Extent3 size;    ///< work-items of one group

  /// Calls `body(WorkItem)` for every work-item of the group, x fastest. What stands between two such calls is ordered
  /// as a barrier would order it.
  template <class Body>
  void for_each_item(Body&& body) const {
    for (std::uint64_t z = 0; z < size.z; ++z) {
      for (std::uint64_t y = 0; y < size.y; ++y) {
        for (std::uint64_t x = 0; x < size.x; ++x) {
          body(WorkItem{{x, y, z}, {id.x * size.x + x, id.y * size.y + y, id.z * size.z + z}});
        }
      }
    }
  }
};

/// A group's local memory as a CPU function receives it.
template <class T>
struct LocalMemory {
  std::span<T> span;
  [[nodiscard]] T& operator[](std::size_t index) const { return span[index]; }
  [[nodiscard]] std::size_t size() const { return span.size(); }
};

namespace detail {

/// One argument as a CPU function's adapter reads it: a pointer for buffers and local memory, the value for scalars.
struct HostArgument {
  void* data = nullptr;
  std::size_t count = 0;
};

template <class T>
struct HostParameter {
  static_assert(std::is_arithmetic_v<T>,
                "a CPU function takes std::span<T>, std::span<const T>, tessera::LocalMemory<T> and numbers by value");
  static constexpr ParameterKind kKind = ParameterKind::scalar;
  static constexpr DataType kType = data_type_of<T>;
  static T convert(const HostArgument& argument) {
    T value;
    std::memcpy(&value, argument.data, sizeof(T));
    return value;
  }
};
template <class T>
struct HostParameter<std::span<T>> {
  static constexpr ParameterKind kKind = std::is_const_v<T> ? ParameterKind::input : ParameterKind::output;
  static constexpr DataType kType = data_type_of<T>;
  static std::span<T> convert(const HostArgument& argument) { return {static_cast<T*>(argument.data), argument.count}; }
};
template <class T>
struct HostParameter<LocalMemory<T>> {
  static constexpr ParameterKind kKind = ParameterKind::local;
  static constexpr DataType kType = data_type_of<T>;
  static LocalMemory<T> convert(const HostArgument& argument) {
    return {{static_cast<T*>(argument.data), argument.count}};
  }
};

template <class F>
struct CallSignature : CallSignature<decltype(&F::operator())> {};
template <class R, class... Args>
struct CallSignature<R (*)(const WorkGroup&, Args...)> {
  using Arguments = std::tuple<std::remove_cvref_t<Args>...>;
};
template <class F, class R, class... Args>
struct CallSignature<R (F::*)(const WorkGroup&, Args...) const> {
  using Arguments = std::tuple<std::remove_cvref_t<Args>...>;
};
template <class F, class R, class... Args>
struct CallSignature<R (F::*)(const WorkGroup&, Args...)> {
  static_assert(kNoSuchDataType<F>, "a CPU function is called by several threads at once: it must not be mutable");
};

}  // namespace detail

/// A C++ callable `(const WorkGroup&, parameters...)`, called once per work-group and by several threads at once. Its
/// parameters say what it takes, so that a mistake is found when the kernel is compiled and not when it runs.
class CpuFunction {
 public:
  CpuFunction() = default;

  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, CpuFunction>)
      CpuFunction(F function)  // NOLINT(google-explicit-constructor): a lambda is meant to be written in its place
      : CpuFunction(std::move(function), static_cast<typename detail::CallSignature<F>::Arguments*>(nullptr)) {}

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  /// What the callable takes; names are "".
  [[nodiscard]] const std::vector<Parameter>& parameters() const noexcept { return parameters_; }
  void operator()(const WorkGroup& group, std::span<const detail::HostArgument> arguments) const {
    call_(group, arguments);
  }

  /// For the library: the same parameters, and `call` in place of the callable.
  using Call = std::function<void(const WorkGroup&, std::span<const detail::HostArgument>)>;
  [[nodiscard]] CpuFunction with_call(Call call) const {
    CpuFunction function;
    function.parameters_ = parameters_;
    function.call_ = std::move(call);
    return function;
  }

 private:
  template <class F, class... Args>
  CpuFunction(F function, std::tuple<Args...>*) {
    try {
      parameters_ = {Parameter{"", detail::HostParameter<Args>::kKind, detail::HostParameter<Args>::kType}...};
      call_ = [function = std::move(function)](const WorkGroup& group,
                                               std::span<const detail::HostArgument> arguments) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          function(group, detail::HostParameter<Args>::convert(arguments[I])...);
        }
        (std::index_sequence_for<Args...>{});
      };
    } catch (const std::bad_alloc&) {
      detail::throw_out_of_host_memory("a CPU function", sizeof(F));
    }
  }

  std::vector<Parameter> parameters_;
  Call call_;
};

/// A kernel of the program's own, in as many languages as it likes. The declaration is checked against what each
/// compiler made of the source.
///
/// CUDA C++: `extern "C" __global__ void NAME(...)`. A local parameter arrives as an `unsigned` byte offset into
/// `extern __shared__ unsigned char shared[]`.
/// OpenCL C: `__kernel void NAME(...)`. A local parameter arrives as a `__local T*`.
struct KernelSource {
  std::string name;                   ///< of the kernel function
  std::vector<Parameter> parameters;  ///< in order
  std::string opencl = {};            ///< OpenCL C; "" if there is none
  std::string cuda = {};              ///< CUDA C++; "" if there is none
  CpuFunction cpu = {};               ///< empty if there is none
  std::string opencl_options = {};    ///< passed to the OpenCL compiler
  std::string cuda_options = {};      ///< passed to NVRTC, separated by spaces
  std::string label = {};             ///< names it in errors and traces; the kernel's name if ""
};

/// What the compiled kernel can do, asked again after the build because it can be less than the device's limits.
struct OwnKernelLimits {
  std::uint64_t max_group_size = 0;
  std::uint64_t local_memory_bytes = 0;        ///< the most that the local parameters of one launch may take
  std::uint64_t preferred_group_multiple = 1;  ///< group sizes that are a multiple of it waste no lanes
};

/// A program's own kernel, compiled for one device. Launch it with Queue::launch.
class TESSERA_API OwnKernel : public Kernel {
 public:
  [[nodiscard]] const OwnKernelLimits& limits() const;
  [[nodiscard]] const std::vector<Parameter>& parameters() const;

  /// For the library.
  explicit OwnKernel(std::shared_ptr<detail::KernelCore> core) noexcept : Kernel(std::move(core)) {}
};

/// Size of a local-memory argument, in elements of T.
template <class T>
struct LocalSize {
  std::size_t count = 0;
};
/// `queue.launch(kernel, shape, x, local_memory<float>(256))`: as many elements of T for each work-group.
template <class T>
[[nodiscard]] LocalSize<T> local_memory(std::size_t count) {
  return {count};
}

namespace detail {

/// One argument of a launch with its kind erased; made by Queue::launch.
struct LaunchArgument {
  template <class T>
  explicit LaunchArgument(const Buffer<T>& buffer)
      : kind(ParameterKind::output), type(data_type_of<T>), view(buffer.untyped()) {}
  template <class T>
  explicit LaunchArgument(const BufferView<T>& part)
      : kind(std::is_const_v<T> ? ParameterKind::input : ParameterKind::output),
        type(data_type_of<T>),
        view(part.untyped()) {}
  template <class T>
  explicit LaunchArgument(const LocalSize<T>& size)
      : kind(ParameterKind::local), type(data_type_of<T>), local_count(size.count) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit LaunchArgument(T value) : kind(ParameterKind::scalar), type(data_type_of<T>) {
    std::memcpy(scalar.data(), &value, sizeof(T));
  }

  ParameterKind kind;
  DataType type;
  UntypedView view = {};
  std::size_t local_count = 0;
  std::array<std::byte, 8> scalar{};
};

}  // namespace detail

}  // namespace tessera
