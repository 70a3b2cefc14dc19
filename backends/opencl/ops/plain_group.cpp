// The shapes of a plain group, and the halving.
#include "ops/plain_group.h"

#include <algorithm>
#include <utility>

namespace tessera::opencl {

namespace {

/// A square of this edge, whichever way its work-items go.
bool takes_square(const DeviceInfo& info, std::int64_t edge) {
  const auto side = static_cast<std::uint64_t>(edge);
  return side * side <= info.max_group_size && side <= info.max_group_extent[0] && side <= info.max_group_extent[1];
}

void add_once(std::vector<std::int64_t>& values, std::int64_t value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

}  // namespace

PlainGroup smallest_plain_group(const DeviceFacts& facts) noexcept {
  const PlainGroup whole;
  // One work-item a group is the smallest that a device may insist on.
  if (facts.info.max_group_size < static_cast<std::uint64_t>(whole.rows * whole.columns)) return {1, 1};
  return whole;
}

std::vector<Tunable> plain_group_tunables(const DeviceFacts& facts, std::initializer_list<std::int64_t> edges,
                                          const std::string& whole,
                                          const std::function<bool(const PlainGroup&)>& fits) {
  const PlainGroup preferred;
  Tunable columns{.name = "block_columns",
                  .meaning = "columns of " + whole + " that a work-group computes, a work-item each, at most",
                  .values = {},
                  .preferred = preferred.columns};
  Tunable rows{.name = "block_rows",
               .meaning = "rows of " + whole + " that a work-group computes at most",
               .values = {},
               .preferred = preferred.rows,
               .paired_with = columns.name};
  const auto add = [&](const PlainGroup& group) {
    add_once(columns.values, group.columns);
    add_once(rows.values, group.rows);
    rows.pairs.emplace_back(group.columns, group.rows);
  };
  for (const std::int64_t edge : edges) {
    if (takes_square(facts.info, edge) && fits({edge, edge})) add({edge, edge});
  }
  add(preferred);
  std::ranges::sort(columns.values);
  std::ranges::sort(rows.values);
  return {std::move(columns), std::move(rows)};
}

PlainGroup plain_group(const Tuning& tuning) {
  return {tuning.at("block_rows"), tuning.at("block_columns")};
}

PlainGroup shrunk(PlainGroup group, const CompiledKernel& kernel, const DeviceFacts& facts) {
  const auto limit = static_cast<std::int64_t>(kernel.max_group_size());
  const auto row_limit = static_cast<std::int64_t>(facts.info.max_group_extent[1]);
  while (group.rows > 1 && (group.rows * group.columns > limit || group.rows > row_limit)) group.rows /= 2;
  while (group.columns > 1 && group.columns > limit) group.columns /= 2;
  return group;
}

}  // namespace tessera::opencl
