// A gemm case whose matrices lie in the host's memory: copied to the device, multiplied, and copied back.
#pragma once

#include <cstddef>
#include <memory>

#include "conformance/gemm/gemm_run.h"
#include "conformance/problem_set.h"

namespace tessera::conformance {

/// The problem must be packed: host memory and device memory hold the same bytes.
template <class T>
[[nodiscard]] std::unique_ptr<RoundTrip> make_gemm_round_trip(const Device& device, OperatorKernel<Gemm> kernel,
                                                              std::shared_ptr<const GemmData<T>> data,
                                                              HostMemory memory);

extern template std::unique_ptr<RoundTrip> make_gemm_round_trip(const Device&, OperatorKernel<Gemm>,
                                                                std::shared_ptr<const GemmData<float>>, HostMemory);
extern template std::unique_ptr<RoundTrip> make_gemm_round_trip(const Device&, OperatorKernel<Gemm>,
                                                                std::shared_ptr<const GemmData<double>>, HostMemory);

}  // namespace tessera::conformance
