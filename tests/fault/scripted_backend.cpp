// A backend that does what a test's script says: two devices that share one memory, and a gemm with a workspace.
#include <tessera/ops/gemm.h>

#include "backend/sentence.h"
#include "scripted_queue.h"

namespace tessera::scripted {

Script& script() {
  static Script* const script = new Script;  // never destroyed, as the backend
  return *script;
}

namespace {

/// Writes m * n zeros, once its workspace was written.
class GemmKernel : public backend::Kernel {
 public:
  explicit GemmKernel(const Gemm& problem) : problem_(problem) {
    script().pass(Call::make_kernel);
    ++script().kernels;
  }
  ~GemmKernel() override { --script().kernels; }
  GemmKernel(const GemmKernel&) = delete;
  GemmKernel& operator=(const GemmKernel&) = delete;

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(problem_.m * problem_.n) * sizeof(float);
  }
  [[nodiscard]] std::size_t held_bytes() const override { return 1000; }
  void launch(backend::Queue& queue, std::span<const Slice> operands, const Slice& workspace) override {
    auto& native = static_cast<Queue&>(queue);
    const std::size_t size_bytes = workspace_bytes();
    native.submit({workspace}, [workspace, size_bytes] { std::memset(address(workspace), 0, size_bytes); });
    native.submit({operands[2], workspace}, [to = operands[2], workspace, size_bytes] {
      std::memcpy(address(to), address(workspace), size_bytes);
    });
  }

 private:
  Gemm problem_;
};

class Device : public backend::Device {
 public:
  explicit Device(std::size_t index) : index_(index) {}
  [[nodiscard]] DeviceInfo info() const override;
  [[nodiscard]] std::unique_ptr<backend::Buffer> allocate(std::size_t size_bytes) override {
    return std::make_unique<Buffer>(size_bytes);
  }
  [[nodiscard]] std::unique_ptr<backend::PinnedMemory> allocate_pinned(std::size_t size_bytes) override {
    return std::make_unique<PinnedMemory>(size_bytes);
  }
  [[nodiscard]] std::unique_ptr<backend::Queue> make_queue() override { return std::make_unique<Queue>(); }
  [[nodiscard]] std::unique_ptr<backend::OwnKernel> compile(const KernelSource& /*source*/) override {
    throw Error(ErrorCode::unsupported, "the scripted device runs no kernels of one's own");
  }
  [[nodiscard]] std::string memory_name() const override { return "scripted"; }
  [[nodiscard]] std::uint64_t held_bytes() const override { return index_ == 0 ? script().scratch_bytes.load() : 0; }
  std::uint64_t trim() noexcept override {
    const std::size_t freed = index_ == 0 ? script().scratch_bytes.exchange(0) : 0;
    script().taken_bytes -= freed;
    return freed;
  }

 private:
  std::size_t index_;
};

DeviceInfo facts() {
  DeviceInfo info;
  info.name = "scripted device";
  info.memory_total_bytes = Script::kMemoryBytes;
  info.max_allocation_bytes = Script::kMemoryBytes;
  info.compute_units = 1;
  info.max_group_size = 1;
  info.max_group_extent = {1, 1, 1};
  return info;
}

DeviceInfo Device::info() const {
  return facts();
}

class ScriptedBackend : public backend::Backend {
 public:
  ScriptedBackend() { operators_.set<Gemm>({{"zeros", "writes zeros", check, nullptr, make}}); }
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] std::string_view device_prefix() const override { return "scripted"; }
  [[nodiscard]] backend::Probe probe() override { return {true, "it does what it is told"}; }
  [[nodiscard]] std::vector<DeviceInfo> devices() override { return {facts(), facts()}; }
  [[nodiscard]] std::unique_ptr<backend::Device> open(std::size_t index, const backend::DeviceOptions&) override {
    return std::make_unique<Device>(index);
  }
  [[nodiscard]] const backend::OperatorTable& operators() const override { return operators_; }

 private:
  static backend::Verdict check(const Gemm&, const backend::Device&) { return backend::Verdict::yes(); }
  static std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device&, const Tuning&) {
    return std::make_unique<GemmKernel>(problem);
  }
  backend::OperatorTable operators_;
};

}  // namespace
}  // namespace tessera::scripted

TESSERA_BACKEND_PLUGIN(tessera::scripted::ScriptedBackend)

extern "C" __attribute__((visibility("default"))) tessera::scripted::Script* tessera_script() {
  return &tessera::scripted::script();
}
