// The smallest backend that works: one device that computes in host memory, at once, on the calling thread. A template
// for others, and the device on which the front half's own tests run. Its option `memory=BYTES` limits its memory.
#include "backend/backend.h"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "minimal_operators.h"
#include "minimal_queue.h"

namespace tessera::minimal {
namespace {

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
  /// Its buffers come out of a budget of its own, which nothing else shares.
  [[nodiscard]] std::string memory_name() const override { return backend::sentence("minimal budget ", budget_.get()); }

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
        {"naive", "one thread, three plain loops", check<Gemm>, nullptr, make<Gemm, GemmKernel>},
        {"turned", "the same with B turned around in a workspace", check<Gemm>, nullptr, make<Gemm, TurnedGemmKernel>},
    });
    operators_.set<Conv2d>({
        {"naive", "one thread, one pixel after another", check<Conv2d>, nullptr, make<Conv2d, Conv2dKernel>},
    });
    operators_.set<CnnLayer>({
        {"naive", "one thread, plain loops", check_layer, nullptr, make<CnnLayer, LayerKernel<false>>},
        {"turned", "the same with prepared weights", check_layer, nullptr, make<CnnLayer, LayerKernel<true>>},
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
  template <class Problem, class OperatorKernel>
  static std::unique_ptr<backend::Kernel> make(const Problem& problem, backend::Device&, const Tuning&) {
    return std::make_unique<OperatorKernel>(problem);
  }
  template <class Problem>
  static backend::Verdict check(const Problem&, const backend::Device&) {
    return backend::Verdict::yes();
  }
  static backend::Verdict check_layer(const CnnLayer& p, const backend::Device&) {
    if (p.type == DataType::float32 && p.layout == Layout::nchw) return backend::Verdict::yes();
    return backend::Verdict::no(backend::sentence("cnn_layer is of type ", to_string(p.type), " in ",
                                                  to_string(p.layout), ", but must be float32 in nchw here"));
  }
  backend::OperatorTable operators_;
};

}  // namespace
}  // namespace tessera::minimal

TESSERA_BACKEND_PLUGIN(tessera::minimal::MinimalBackend)
