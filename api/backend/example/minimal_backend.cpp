// The smallest backend that works: one device that computes in host memory, at once, on the calling thread. A template
// for others, and the device on which the front half's own tests run. Its option `memory=BYTES` limits its memory.
#include "backend/backend.h"

#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "backend/conv2d_filter.h"
#include "backend/sentence.h"

namespace tessera::minimal {
namespace {

using backend::Slice;

/// How much memory there is and how much is taken. Shared, because buffers may outlive the device.
struct Budget {
  std::mutex mutex;
  std::size_t total = 0;
  std::size_t taken = 0;
};

class Buffer : public backend::Buffer {
 public:
  Buffer(std::shared_ptr<Budget> budget, std::size_t size_bytes) : budget_(std::move(budget)), size_bytes_(size_bytes) {
    const std::lock_guard lock(budget_->mutex);
    if (size_bytes > budget_->total - budget_->taken) {
      throw Error(ErrorCode::out_of_memory,
                  backend::sentence("the minimal device has ", budget_->total - budget_->taken, " of ", budget_->total,
                                    " bytes left, but ", size_bytes, " are asked for"));
    }
    data_ = static_cast<std::byte*>(::operator new (size_bytes, std::align_val_t{256}, std::nothrow));
    if (data_ == nullptr) {
      throw Error(ErrorCode::out_of_memory, backend::sentence("the host has no ", size_bytes, " bytes left"));
    }
    budget_->taken += size_bytes;
  }
  ~Buffer() override {
    ::operator delete (data_, std::align_val_t{256});
    const std::lock_guard lock(budget_->mutex);
    budget_->taken -= size_bytes_;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::shared_ptr<Budget> budget_;
  std::size_t size_bytes_;
  std::byte* data_ = nullptr;
};

std::byte* address(const Slice& slice) {
  return static_cast<Buffer*>(slice.buffer)->data() + slice.offset_bytes;
}

class PinnedMemory : public backend::PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t size_bytes) : bytes_(std::make_unique<std::byte[]>(size_bytes)) {}
  [[nodiscard]] void* data() const noexcept override { return bytes_.get(); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

/// The first failure of a queue, shared with its events.
struct Failure {
  std::mutex mutex;
  std::optional<Error> error;
  std::uint64_t command = 0;

  void rethrow() {
    const std::lock_guard lock(mutex);
    if (error) throw Error(*error);
  }
};

class Event : public backend::Event {
 public:
  explicit Event(std::shared_ptr<Failure> failure) : failure_(std::move(failure)) {}
  void wait() override { failure_->rethrow(); }
  [[nodiscard]] bool is_done() override {
    failure_->rethrow();
    return true;
  }
  [[nodiscard]] double seconds_since(backend::Event& start) override {
    return std::chrono::duration<double>(time_ - static_cast<Event&>(start).time_).count();
  }

 private:
  std::shared_ptr<Failure> failure_;
  std::chrono::steady_clock::time_point time_ = std::chrono::steady_clock::now();
};

class Queue : public backend::Queue {
 public:
  void upload(const Slice& destination, const void* host) override {
    run([&] { std::memcpy(address(destination), host, destination.size_bytes); });
  }
  void download(void* host, const Slice& source) override {
    run([&] { std::memcpy(host, address(source), source.size_bytes); });
  }
  void copy(const Slice& destination, const Slice& source) override {
    run([&] { std::memcpy(address(destination), address(source), source.size_bytes); });
  }
  void fill(const Slice& destination, std::span<const std::byte> pattern) override {
    run([&] {
      for (std::size_t i = 0; i < destination.size_bytes; i += pattern.size()) {
        std::memcpy(address(destination) + i, pattern.data(), pattern.size());
      }
    });
  }
  [[nodiscard]] std::unique_ptr<backend::Event> record() override { return std::make_unique<Event>(failure_); }
  void wait(backend::Event& event) override { event.wait(); }
  void finish() override { failure_->rethrow(); }
  [[nodiscard]] backend::Suspects suspects() const override { return {failure_->command, failure_->command}; }

  /// Does the work at once; a failure is kept for the next wait, and what comes after it is left out.
  template <class Work>
  void run(const Work& work) {
    const std::lock_guard lock(failure_->mutex);
    if (failure_->error) return;
    try {
      work();
    } catch (const std::exception& error) {
      failure_->error = Error(ErrorCode::internal, backend::sentence("a command throws: ", error.what()));
      failure_->command = command();
    }
  }

 private:
  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();
};

/// One thread, plain loops.
template <class T>
void multiply(const Gemm& p, const T* a, const T* b, T* c) {
  const bool reads_product = p.k > 0 && static_cast<T>(p.alpha) != T(0);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      T sum = 0;
      for (std::int64_t l = 0; reads_product && l < p.k; ++l) {
        sum += (p.transpose_a ? a[l * p.lda + i] : a[i * p.lda + l]) *
               (p.transpose_b ? b[j * p.ldb + l] : b[l * p.ldb + j]);
      }
      T& result = c[i * p.ldc + j];
      result = (reads_product ? static_cast<T>(p.alpha) * sum : T(0)) +
               (static_cast<T>(p.beta) != T(0) ? static_cast<T>(p.beta) * result : T(0));
    }
  }
}

/// The same with B turned around first, so that both run along memory. Room for that is the workspace.
class TurnedGemmKernel : public backend::Kernel {
 public:
  explicit TurnedGemmKernel(const Gemm& problem) : problem_(problem) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(problem_.k * problem_.n) * size_bytes(problem_.type);
  }
  void launch(backend::Queue& queue, std::span<const Slice> operands, const Slice& workspace) override {
    static_cast<Queue&>(queue).run([&] {
      problem_.type == DataType::float32 ? run<float>(operands, workspace) : run<double>(operands, workspace);
    });
  }

 private:
  template <class T>
  void run(std::span<const Slice> operands, const Slice& workspace) const {
    const auto element = [](const Slice& slice) { return reinterpret_cast<T*>(address(slice)); };
    Gemm turned = problem_;
    turned.transpose_b = true;
    turned.ldb = problem_.k;
    for (std::int64_t i = 0; i < problem_.batch; ++i) {
      const T* const b = element(operands[1]) + i * problem_.stride_b;
      for (std::int64_t l = 0; l < problem_.k; ++l) {
        for (std::int64_t j = 0; j < problem_.n; ++j) {
          element(workspace)[j * problem_.k + l] =
              problem_.transpose_b ? b[j * problem_.ldb + l] : b[l * problem_.ldb + j];
        }
      }
      const T* const b_turned = workspace.buffer != nullptr ? element(workspace) : nullptr;
      multiply<T>(turned, element(operands[0]) + i * problem_.stride_a, b_turned,
                  element(operands[2]) + i * problem_.stride_c);
    }
  }
  Gemm problem_;
};

class GemmKernel : public backend::Kernel {
 public:
  explicit GemmKernel(const Gemm& problem) : problem_(problem) {}
  void launch(backend::Queue& queue, std::span<const Slice> operands, const Slice& /*workspace*/) override {
    static_cast<Queue&>(queue).run(
        [&] { problem_.type == DataType::float32 ? run<float>(operands) : run<double>(operands); });
  }

 private:
  template <class T>
  void run(std::span<const Slice> operands) const {
    const auto element = [&](std::size_t i) { return reinterpret_cast<T*>(address(operands[i])); };
    for (std::int64_t i = 0; i < problem_.batch; ++i) {
      multiply<T>(problem_, element(0) + i * problem_.stride_a, element(1) + i * problem_.stride_b,
                  element(2) + i * problem_.stride_c);
    }
  }
  Gemm problem_;
};

class Conv2dKernel : public backend::Kernel {
 public:
  explicit Conv2dKernel(const Conv2d& problem) : problem_(problem) {}
  void launch(backend::Queue& queue, std::span<const Slice> operands, const Slice& /*workspace*/) override {
    static_cast<Queue&>(queue).run([&] {
      switch (problem_.type) {
        case DataType::uint8: return run<std::uint8_t, std::uint32_t>(operands);
        case DataType::int16: return run<std::int16_t, std::uint32_t>(operands);
        case DataType::int32: return run<std::int32_t, std::uint32_t>(operands);
        default: return run<float, float>(operands);
      }
    });
  }

 private:
  /// Sums of integers wrap around, which unsigned arithmetic is allowed to.
  template <class Pixel, class Sum>
  void run(std::span<const Slice> operands) const {
    const Conv2d& p = problem_;
    const auto* image = reinterpret_cast<const Pixel*>(address(operands[0]));
    auto* output = reinterpret_cast<Sum*>(address(operands[1]));
    for (std::int64_t i = 0; i < p.batch; ++i, image += p.height * p.width) {
      for (std::int64_t y = 0; y < p.output_height(); ++y) {
        for (std::int64_t x = 0; x < p.output_width(); ++x) *output++ = pixel<Pixel, Sum>(image, y, x);
      }
    }
  }
  template <class Pixel, class Sum>
  [[nodiscard]] Sum pixel(const Pixel* image, std::int64_t y, std::int64_t x) const {
    const Conv2d& p = problem_;
    Sum sum = 0;
    for (std::int64_t k = 0; k < p.filter_height * p.filter_width; ++k) {
      const std::int64_t row = y + k / p.filter_width - p.anchor_y;
      const std::int64_t column = x + k % p.filter_width - p.anchor_x;
      if (row < 0 || row >= p.height || column < 0 || column >= p.width) continue;
      sum += backend::conv2d_weight<Sum>(p.filter[k]) * static_cast<Sum>(image[row * p.width + column]);
    }
    return sum;
  }
  Conv2d problem_;
};

class OwnKernel : public backend::OwnKernel {
 public:
  explicit OwnKernel(CpuFunction function) : function_(std::move(function)) {}
  [[nodiscard]] OwnKernelLimits limits() const override { return {1024, 65536, 1}; }
  void launch(backend::Queue& queue, const LaunchShape& shape, std::span<const backend::Argument> arguments) override {
    static_cast<Queue&>(queue).run([&] {
      std::vector<std::vector<std::byte>> local(arguments.size());
      std::vector<tessera::detail::HostArgument> host;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const backend::Argument& argument = arguments[i];
        if (argument.kind == ParameterKind::scalar) {
          host.push_back({const_cast<std::byte*>(argument.scalar.data()), 1});
        } else if (argument.kind == ParameterKind::local) {
          local[i].resize(argument.local_bytes);
          host.push_back({local[i].data(), argument.local_bytes / size_bytes(argument.type)});
        } else {
          host.push_back({address(argument.buffer), argument.buffer.size_bytes / size_bytes(argument.type)});
        }
      }
      for (std::uint64_t z = 0; z < shape.groups.z; ++z) {
        for (std::uint64_t y = 0; y < shape.groups.y; ++y) {
          for (std::uint64_t x = 0; x < shape.groups.x; ++x) {
            function_(WorkGroup{{x, y, z}, shape.groups, shape.group_size}, host);
          }
        }
      }
    });
  }

 private:
  CpuFunction function_;
};

class Device : public backend::Device {
 public:
  explicit Device(std::size_t memory_bytes) { budget_->total = memory_bytes; }
  [[nodiscard]] DeviceInfo info() const override;
  [[nodiscard]] std::unique_ptr<backend::Buffer> allocate(std::size_t size_bytes) override {
    return std::make_unique<Buffer>(budget_, size_bytes);
  }
  [[nodiscard]] std::unique_ptr<backend::PinnedMemory> allocate_pinned(std::size_t size_bytes) override {
    return std::make_unique<PinnedMemory>(size_bytes);
  }
  [[nodiscard]] std::unique_ptr<backend::Queue> make_queue() override { return std::make_unique<Queue>(); }
  [[nodiscard]] std::unique_ptr<backend::OwnKernel> compile(const KernelSource& source) override {
    if (!source.cpu) {
      throw Error(ErrorCode::unsupported,
                  backend::sentence("the kernel '", source.name, "' has no CPU function, which this device runs"));
    }
    return std::make_unique<OwnKernel>(source.cpu);
  }

 private:
  std::shared_ptr<Budget> budget_ = std::make_shared<Budget>();
};

constexpr std::size_t kDefaultMemoryBytes = std::size_t{1} << 30;

DeviceInfo facts(std::size_t memory_bytes) {
  DeviceInfo info;
  info.name = "minimal device";
  info.vendor = "Tessera";
  info.driver = "none";
  info.driver_version = TESSERA_VERSION;
  info.memory_total_bytes = memory_bytes;
  info.compute_units = 1;
  info.max_group_size = 1024;
  info.max_group_extent = {1024, 1024, 1024};
  info.local_memory_bytes = 65536;
  info.max_allocation_bytes = memory_bytes;
  info.has_float64 = true;
  info.unified_memory = true;
  info.timer_resolution_s = 1e-9;
  return info;
}

DeviceInfo Device::info() const {
  const std::lock_guard lock(budget_->mutex);
  DeviceInfo info = facts(budget_->total);
  info.memory_free_bytes = budget_->total - budget_->taken;
  return info;
}

class MinimalBackend : public backend::Backend {
 public:
  MinimalBackend() {
    operators_.set<Gemm>({
        {"naive", "one thread, three plain loops", check<Gemm>, nullptr,
         [](const Gemm& problem, backend::Device&, const Tuning&) -> std::unique_ptr<backend::Kernel> {
           return std::make_unique<GemmKernel>(problem);
         }},
        {"turned", "the same with B turned around in a workspace", check<Gemm>, nullptr,
         [](const Gemm& problem, backend::Device&, const Tuning&) -> std::unique_ptr<backend::Kernel> {
           return std::make_unique<TurnedGemmKernel>(problem);
         }},
    });
    operators_.set<Conv2d>({
        {"naive", "one thread, one pixel after another", check<Conv2d>, nullptr,
         [](const Conv2d& problem, backend::Device&, const Tuning&) -> std::unique_ptr<backend::Kernel> {
           return std::make_unique<Conv2dKernel>(problem);
         }},
    });
  }
  [[nodiscard]] std::string_view name() const override { return "minimal"; }
  [[nodiscard]] std::string_view device_prefix() const override { return "minimal"; }
  [[nodiscard]] backend::Probe probe() override { return {true, "it computes in host memory"}; }
  [[nodiscard]] std::vector<DeviceInfo> devices() override { return {facts(kDefaultMemoryBytes)}; }
  [[nodiscard]] std::vector<backend::DeviceOption> device_options() const override {
    return {{"memory", "bytes that its buffers may take together"}};
  }
  [[nodiscard]] std::unique_ptr<backend::Device> open(std::size_t, const backend::DeviceOptions& options) override {
    const auto memory = options.find("memory");
    if (memory == options.end()) return std::make_unique<Device>(kDefaultMemoryBytes);
    char* end = nullptr;
    const unsigned long long bytes = std::strtoull(memory->second.c_str(), &end, 10);
    if (bytes == 0 || *end != '\0') {
      throw Error(ErrorCode::invalid_argument,
                  backend::sentence("the option memory is '", memory->second, "', but must be a number of bytes"));
    }
    return std::make_unique<Device>(bytes);
  }
  [[nodiscard]] const backend::OperatorTable& operators() const override { return operators_; }

 private:
  template <class Problem>
  static backend::Verdict check(const Problem&, const backend::Device&) {
    return backend::Verdict::yes();
  }
  backend::OperatorTable operators_;
};

}  // namespace
}  // namespace tessera::minimal

TESSERA_BACKEND_PLUGIN(tessera::minimal::MinimalBackend)
