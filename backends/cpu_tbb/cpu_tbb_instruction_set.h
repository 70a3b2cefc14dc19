// Which instruction set the kernels run with on this processor.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::cpu_tbb {

/// The best one of those that the kernels were compiled for and the processor has: "AVX-512 with VNNI and AMX".
[[nodiscard]] std::string instruction_set();
/// The name of one of Highway's targets.
[[nodiscard]] std::string instruction_set_name(std::int64_t target);

/// True if kernels run with AVX-512 and the processor has VNNI besides: one instruction multiplies four bytes, or two
/// numbers of 16 bits, and adds the products to a sum of 32 bits. Highway counts it to a set of eight extensions, of
/// which virtual machines hide one or another; therefore it is asked for by itself.
[[nodiscard]] bool has_vnni();
/// True if besides these the processor multiplies tiles of bytes (AMX-INT8), and the operating system lets this process
/// use the tile registers, which it is asked for on the first call.
[[nodiscard]] bool has_amx();
/// The same for tiles of bfloat16 (AMX-BF16). Processors with the one have had the other so far.
[[nodiscard]] bool has_amx_bfloat16();
/// From now on as on a processor without. For tests, before any kernel exists.
void leave_amx_out();
void leave_vnni_out();  ///< and AMX

}  // namespace tessera::cpu_tbb
