// Draws the fields of one random problem: whole-number arithmetic alone, so that they are the same on every machine.
// For the same reason several numbers are drawn in statements of their own or in braces, never as arguments of one
// call, whose order is a compiler's choice.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include "conformance/problem_set.h"
#include "conformance/problem_words.h"
#include "tools/random/integer_random.h"

namespace tessera::tool {

class Draw {
 public:
  explicit Draw(IntegerRandom random) : random_(random) {}

  /// From `least` to `most`, every doubling as likely as the next: sizes that people use spread over magnitudes.
  std::int64_t size(std::int64_t least, std::int64_t most) {
    const std::int64_t first = exponent_of(least), last = exponent_of(most);
    for (;;) {
      const std::int64_t octave = std::int64_t{1} << random_.between(first, last);
      const std::int64_t value = random_.between(octave, 2 * octave - 1);
      if (value >= least && value <= most) return value;
    }
  }
  std::int64_t between(std::int64_t least, std::int64_t most) { return random_.between(least, most); }
  /// About as size().
  std::int64_t no_multiple_of_four(std::int64_t least, std::int64_t most) {
    const std::int64_t value = size(least, most) / 4 * 4;
    return value + between(1, 3);
  }
  /// In `part` of `whole` cases.
  bool chance(std::int64_t part, std::int64_t whole) { return random_.below(whole) < part; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return *(values.begin() + random_.below(static_cast<std::int64_t>(values.size())));
  }
  template <class Value, std::size_t kCount>
  const Value& one_of(const Value (&values)[kCount]) {
    return values[random_.below(static_cast<std::int64_t>(kCount))];
  }

  /// A field of the problem, as --problem takes it.
  void set(const char* field, std::int64_t value) { words_.emplace_back(field, std::to_string(value)); }
  void set(const char* field, std::string word) { words_.emplace_back(field, std::move(word)); }
  void set_axes(const char* field, const PerAxis& numbers) { set(field, conformance::to_string(numbers)); }

  [[nodiscard]] conformance::ProblemWords take() { return std::move(words_); }

 private:
  static std::int64_t exponent_of(std::int64_t value) {
    std::int64_t exponent = 0;
    while (value >> (exponent + 1) != 0) ++exponent;
    return exponent;
  }

  IntegerRandom random_;
  conformance::ProblemWords words_;
};

}  // namespace tessera::tool
