// One layer as a chain of oneDNN's primitives: layout of the input, convolution with bias and ReLU, max-pool, layout of
// the output. oneDNN chooses the layouts between.
#pragma once

#include <cstddef>
#include <memory>

#include <tessera/ops/cnn_layer.h>

#include "backend/variant.h"
#include "cpu_tbb_executor.h"

namespace tessera::cpu_tbb {

/// May be run by several threads at once.
class OnednnLayer {
 public:
  /// Asks oneDNN for every primitive of the chain. Error unsupported, with its status, if it has one of them not.
  OnednnLayer(const CnnLayer& problem, int threads);
  ~OnednnLayer();
  OnednnLayer(const OnednnLayer&) = delete;
  OnednnLayer& operator=(const OnednnLayer&) = delete;

  /// Of the weights in the layout that the convolution chose.
  [[nodiscard]] std::size_t prepared_bytes() const;
  void prepare(Executor& executor, const std::byte* weights, std::byte* prepared) const;
  void run(Executor& executor, const std::byte* input, const std::byte* weights, const std::byte* bias,
           std::byte* output) const;

 private:
  class Chain;
  std::unique_ptr<const Chain> chain_;
};

/// No if the library cannot be used, or has not what the chain needs.
[[nodiscard]] backend::Verdict check_onednn_layer(const CnnLayer& problem);

}  // namespace tessera::cpu_tbb
