// Random integers that are the same on every machine: whole-number arithmetic alone, no distribution of the standard
// library's, no floating point.
#pragma once

#include <cstdint>

namespace tessera::tool {

/// Sequences with different seeds have nothing to do with each other, however near the seeds.
class IntegerRandom {
 public:
  /// Three numbers make a seed: what is drawn for one image does not depend on how many came before it.
  IntegerRandom(std::uint64_t seed, std::uint64_t part, std::uint64_t index) {
    state_ = seed;
    state_ = next() ^ part;
    state_ = next() ^ index;
  }

  /// 64 random bits, by SplitMix64.
  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
  }

  /// From 0 to count - 1; `count` is small, so that the first are not noticeably likelier.
  std::int64_t below(std::int64_t count) noexcept {
    return static_cast<std::int64_t>((next() >> 32) * static_cast<std::uint64_t>(count) >> 32);
  }
  std::int64_t between(std::int64_t least, std::int64_t most) noexcept { return least + below(most - least + 1); }

  /// About normal, mean 0: the sum of twelve uniform numbers, never further than six deviations.
  std::int64_t normal(std::int64_t deviation) noexcept {
    std::int64_t sum = -6 * kUniform;
    for (int draw = 0; draw < 3; ++draw) {
      for (std::uint64_t bits = next(), part = 0; part < 4; ++part, bits >>= 16) {
        sum += static_cast<std::int64_t>(bits & 0xffff);
      }
    }
    return sum * deviation / kUniform;
  }

 private:
  static constexpr std::int64_t kUniform = 1 << 16;
  std::uint64_t state_ = 0;
};

}  // namespace tessera::tool
