// What the driver says of the kernels that a queue launches, asked while it launches them.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include <tessera/launch_facts.h>

#include "opencl_context.h"

namespace tessera::opencl {

struct NdRange;

class LaunchWatch {
 public:
  /// The kernel's arguments are set, because its local memory depends on them.
  void note(const OpenclContext& context, cl_kernel kernel, const NdRange& range);
  /// In the order in which they were seen first.
  [[nodiscard]] std::vector<LaunchFacts> facts() const { return facts_; }

 private:
  using Key = std::tuple<cl_kernel, std::uint64_t>;  // with the size of a group

  std::map<Key, std::size_t> places_;
  std::vector<LaunchFacts> facts_;
};

}  // namespace tessera::opencl
