// Which instruction set the kernels run with on this processor.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::cpu_tbb {

/// The best one of those that the kernels were compiled for and the processor has: "AVX-512".
[[nodiscard]] std::string instruction_set();
/// The name of one of Highway's targets.
[[nodiscard]] std::string instruction_set_name(std::int64_t target);

}  // namespace tessera::cpu_tbb
