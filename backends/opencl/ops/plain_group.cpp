// The shapes of a plain group, the halving, and kernels compiled for what it comes down to.
#include "ops/plain_group.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tessera::opencl {

namespace {

/// A square of this edge, whichever way its work-items go.
bool takes_square(const DeviceInfo& info, std::int64_t edge) {
  const auto side = static_cast<std::uint64_t>(edge);
  return side * side <= info.max_group_size && side <= info.max_group_extent[0] && side <= info.max_group_extent[1];
}

/// Halved, rows first, until it is within the limits.
PlainGroup shrunk(PlainGroup group, std::uint64_t most_items, const DeviceFacts& facts) {
  const auto limit = static_cast<std::int64_t>(most_items);
  const auto row_limit = static_cast<std::int64_t>(facts.info.max_group_extent[1]);
  while (group.rows > 1 && (group.rows * group.columns > limit || group.rows > row_limit)) group.rows /= 2;
  while (group.columns > 1 && group.columns > limit) group.columns /= 2;
  return group;
}

/// Groups up to this size fit every device's registers. Above it the compiled kernel is asked, which costs a build.
constexpr std::int64_t kTrustedGroupSize = 256;

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

PlainKernel compile_plain(PlainGroup group, const DeviceFacts& facts, const CompilePlain& compile) {
  group = shrunk(group, facts.info.max_group_size, facts);
  for (;;) {
    PlainKernel plain{
        compile(" -DGROUP_X=" + std::to_string(group.columns) + " -DGROUP_Y=" + std::to_string(group.rows)), group};
    group = shrunk(group, plain.kernel->max_group_size(), facts);
    if (group == plain.group) return plain;
  }
}

bool is_taken_whole(const PlainGroup& group, const DeviceFacts& facts, const CompilePlain& compile) {
  if (group.rows * group.columns <= kTrustedGroupSize) return true;
  try {
    return compile_plain(group, facts, compile).group == group;
  } catch (const Error&) {  // some drivers refuse to build for a group that they cannot run
    return false;
  }
}

}  // namespace tessera::opencl
