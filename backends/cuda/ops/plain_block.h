// The block of an operator's plainest kernel, one thread an element of the result: its shape, a pair of tunables.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <tessera/kernel.h>

namespace tessera::cuda {

struct PlainBlock {
  std::int64_t columns;
  std::int64_t rows;
};

/// The preferred one: one warp a row, and enough warps a block to hide latency.
inline constexpr PlainBlock kPlainBlock{32, 8};

/// `block_columns` and `block_rows`: squares of these edges and kPlainBlock, of them those that `fits` takes.
/// kPlainBlock must fit. `whole`: what is cut into blocks, for the tunables' meaning.
[[nodiscard]] std::vector<Tunable> plain_block_tunables(std::initializer_list<std::int64_t> edges,
                                                        std::string_view whole,
                                                        const std::function<bool(const PlainBlock&)>& fits);

[[nodiscard]] PlainBlock plain_block(const Tuning& tuning);

}  // namespace tessera::cuda
