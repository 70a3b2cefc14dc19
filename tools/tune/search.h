// The search itself: which candidates are tried, in which order, and when it ends. Knows neither devices nor clocks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tools/tune/candidate.h"

namespace tessera::tool {

struct SearchSpace {
  std::vector<OpenVariant> variants;  ///< those that can run, in the backend's order
  std::string default_variant;        ///< one of them
};

struct SearchResult {
  std::vector<Trial> trials;  ///< in the order in which they were tried; the default, as it is preferred, is the first
  bool is_complete = false;   ///< nothing was left to try
};

/// Tries a candidate.
using Try = std::function<Trial(const Candidate&)>;
/// May another candidate be tried?
using MayGoOn = std::function<bool()>;

/// First every variant as it is preferred, the default ahead. Then the fastest of them take turns: in a turn a variant
/// moves in one direction to the fastest value there. After each round, in which every variant has moved in all
/// directions, only the faster half of the variants stays; one that a whole round made no faster has come to its end.
/// What is much slower than the fastest takes no part. No candidate is tried twice, and the order depends on nothing
/// but what the trials say.
[[nodiscard]] SearchResult search(const SearchSpace& space, const Try& attempt, const MayGoOn& may_go_on);

/// The right ones but the default, fastest first, `most` of them.
[[nodiscard]] std::vector<const Trial*> fastest(const SearchResult& result, std::size_t most);

}  // namespace tessera::tool
