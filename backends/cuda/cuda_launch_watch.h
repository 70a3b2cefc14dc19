// What the driver says of the functions that a queue launches, asked while it launches them.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include <tessera/launch_facts.h>

#include "cuda_context.h"

namespace tessera::cuda {

struct LaunchGrid;

class LaunchWatch {
 public:
  /// The context is current.
  void note(const Context& context, CUfunction function, const LaunchGrid& grid);
  /// In the order in which they were seen first.
  [[nodiscard]] std::vector<LaunchFacts> facts() const { return facts_; }

 private:
  using Key = std::tuple<CUfunction, std::uint64_t, unsigned>;  // with the size of a group and its dynamic memory

  std::map<Key, std::size_t> places_;
  std::vector<LaunchFacts> facts_;
};

}  // namespace tessera::cuda
