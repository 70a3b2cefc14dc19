// The fields of a problem as result files write them and as a person types them. An operator tells its fields once, in
// <op>_fields.cpp, to a visitor: FieldWriter, or FieldReader.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// "352x240x150": x, y, z.
[[nodiscard]] std::string to_string(const PerAxis& numbers);

/// Makes result files' fields of a problem.
class FieldWriter {
 public:
  void required(std::string_view name, std::int64_t& value) { write(name, value); }
  void required(std::string_view name, PerAxis& value) { write(name, to_string(value)); }
  void optional(std::string_view name, std::int64_t& value) { write(name, value); }
  void optional(std::string_view name, PerAxis& value) { write(name, to_string(value)); }
  /// What JSON has no number for is a word: "inf".
  void optional(std::string_view name, double& value);
  void optional(std::string_view name, bool& value) { write(name, value); }
  template <class Word>
  void optional(std::string_view name, Word& value, std::initializer_list<Word>) {
    write(name, std::string(to_string(value)));
  }
  /// A record tells the type, and that on which a filter is built, apart.
  void type(DataType&) noexcept {}

  [[nodiscard]] std::vector<Field> take() { return std::move(fields_); }

 private:
  template <class Value>
  void write(std::string_view name, Value value) {
    fields_.push_back({std::string(name), std::move(value)});
  }
  std::vector<Field> fields_;
};

/// Makes a problem of words. Each function throws an Error, invalid_argument, with one sentence: for a word that is not
/// of the field's kind, a field that is named twice, and finish() for one that the operator lacks or that is missing.
class FieldReader {
 public:
  FieldReader(std::string_view operator_name, const ProblemWords& words);

  void required(std::string_view name, std::int64_t& value);
  void required(std::string_view name, PerAxis& value);
  void optional(std::string_view name, std::int64_t& value);
  void optional(std::string_view name, PerAxis& value);
  void optional(std::string_view name, double& value);
  void optional(std::string_view name, bool& value);
  /// One of `all`, by its to_string().
  template <class Word>
  void optional(std::string_view name, Word& value, std::initializer_list<Word> all) {
    std::vector<std::string_view> names;
    for (const Word word : all) names.push_back(to_string(word));
    if (const int place = choose(name, names); place >= 0) value = *(all.begin() + place);
  }
  void type(DataType& type);
  /// Which of the names the field holds; -1 if it is not there.
  [[nodiscard]] int choose(std::string_view name, const std::vector<std::string_view>& names);

  /// When all fields were asked for: is there a word for none of them, or none for a required one?
  void finish() const;

 private:
  void require(std::string_view name);
  [[nodiscard]] const std::string* find(std::string_view name);
  [[noreturn]] void refuse(std::string_view name, const std::string& value, const std::string& kind) const;

  std::string_view operator_name_;
  const ProblemWords& words_;
  std::vector<std::string> known_;
  std::string missing_;  // the first required field without a word
};

}  // namespace tessera::conformance
