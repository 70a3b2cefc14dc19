// The pairs of a plain block's sides.
#include "ops/plain_block.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backend/sentence.h"

namespace tessera::cuda {
namespace {

void add_once(std::vector<std::int64_t>& values, std::int64_t value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

}  // namespace

std::vector<Tunable> plain_block_tunables(std::initializer_list<std::int64_t> edges, std::string_view whole,
                                          const std::function<bool(const PlainBlock&)>& fits) {
  Tunable columns{.name = "block_columns",
                  .meaning = backend::sentence("columns of ", whole, " that one block computes, a thread each"),
                  .values = {},
                  .preferred = kPlainBlock.columns};
  Tunable rows{.name = "block_rows",
               .meaning = backend::sentence("rows of ", whole, " that one block computes"),
               .values = {},
               .preferred = kPlainBlock.rows,
               .paired_with = columns.name};
  std::vector<PlainBlock> blocks;
  for (const std::int64_t edge : edges) blocks.push_back({edge, edge});
  blocks.push_back(kPlainBlock);
  for (const PlainBlock& block : blocks) {
    if (!fits(block)) continue;
    add_once(columns.values, block.columns);
    add_once(rows.values, block.rows);
    rows.pairs.emplace_back(block.columns, block.rows);
  }
  std::ranges::sort(columns.values);
  std::ranges::sort(rows.values);
  return {std::move(columns), std::move(rows)};
}

PlainBlock plain_block(const Tuning& tuning) {
  return {tuning.at("block_columns"), tuning.at("block_rows")};
}

}  // namespace tessera::cuda
