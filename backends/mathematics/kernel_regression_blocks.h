// kernel_regression, two_kernels: the tunables that say which block of threads computes differences, and which norms.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tessera/kernel.h>

namespace tessera::mathematics {

/// Training rows and columns of a block. Where one of the two is 1 the block is the study's 1D one, else its 2D one.
using RegressionBlock = std::pair<std::int64_t, std::int64_t>;

/// Two tunables in pairs, "<launch>_rows" and "<launch>_columns", for the blocks that `fits` takes; the first of them
/// is preferred. At least one must fit.
template <class Fits>
void add_regression_blocks(std::vector<Tunable>& tunables, const std::string& launch,
                           std::span<const RegressionBlock> blocks, const Fits& fits) {
  Tunable rows{
      .name = launch + "_rows", .meaning = "training rows of a group that computes " + launch + "s", .values = {}};
  Tunable columns{.name = launch + "_columns", .meaning = "its columns; 1, or 1 row: the block is 1D", .values = {}};
  rows.paired_with = columns.name;
  const auto add = [](std::vector<std::int64_t>& values, std::int64_t value) {
    const auto place = std::lower_bound(values.begin(), values.end(), value);
    if (place == values.end() || *place != value) values.insert(place, value);
  };
  for (const RegressionBlock& block : blocks) {
    if (!fits(block)) continue;
    if (rows.pairs.empty()) {
      rows.preferred = block.first;
      columns.preferred = block.second;
    }
    rows.pairs.emplace_back(block.second, block.first);
    add(rows.values, block.first);
    add(columns.values, block.second);
  }
  tunables.push_back(std::move(rows));
  tunables.push_back(std::move(columns));
}

}  // namespace tessera::mathematics
