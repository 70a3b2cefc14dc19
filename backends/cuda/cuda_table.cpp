// Uploads a table on a queue of its own. Where that fails half-way, queue, memory and numbers are kept until the copy
// is certainly over.
#include "cuda_table.h"

#include <utility>

namespace tessera::cuda {
namespace {

/// A copy under way. The queue goes first.
class TableUpload final : public UnfinishedWork {
 public:
  TableUpload(CudaDevice& device, std::span<const std::byte> bytes)
      : bytes_(bytes.begin(), bytes.end()), memory_(device.allocate(bytes.size())), queue_(device.make_queue()) {}

  void run() {
    queue_->upload({memory_.get(), 0, bytes_.size()}, bytes_.data());
    queue_->finish();
  }
  [[nodiscard]] bool is_over() noexcept override { return queue_->drain(); }
  /// After run().
  [[nodiscard]] std::unique_ptr<backend::Buffer> take_memory() noexcept { return std::move(memory_); }

 private:
  std::vector<std::byte> bytes_;
  std::unique_ptr<backend::Buffer> memory_;
  std::unique_ptr<backend::Queue> queue_;
};

}  // namespace

CudaTable::CudaTable(CudaDevice& device, std::span<const std::byte> bytes) : size_bytes_(bytes.size()) {
  auto upload = std::make_unique<TableUpload>(device, bytes);
  try {
    upload->run();
  } catch (...) {
    if (!upload->is_over()) device.context()->park(std::move(upload));
    throw;
  }
  memory_ = upload->take_memory();
}

}  // namespace tessera::cuda
