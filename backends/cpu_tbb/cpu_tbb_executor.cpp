// What both executors share: loops that need no second thread.
#include "cpu_tbb_executor.h"

#include <utility>

namespace tessera::cpu_tbb {

namespace {

class LoneExecutor final : public Executor {
 public:
  explicit LoneExecutor(std::shared_ptr<ScratchPool> scratch) : Executor(std::move(scratch)) {}
  [[nodiscard]] int threads() const noexcept override { return 1; }

 private:
  void run(std::int64_t chunks, const Body& body) override { body(0, chunks); }
};

}  // namespace

std::unique_ptr<Executor> Executor::alone() const {
  return std::make_unique<LoneExecutor>(scratch_);
}

std::unique_ptr<Executor> Executor::with_new_threads() const {
  return make_executor_of_new_threads(scratch_, threads());
}

}  // namespace tessera::cpu_tbb
