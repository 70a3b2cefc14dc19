// Reading a problem's fields from words.
#include "conformance/problem_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tessera::conformance {

namespace {

std::string listed(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

/// The whole text as one number.
template <class Number>
bool parse(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

}  // namespace

std::string to_string(const PerAxis& numbers) {
  return std::to_string(numbers.x) + "x" + std::to_string(numbers.y) + "x" + std::to_string(numbers.z);
}

void FieldWriter::optional(std::string_view name, double& value) {
  if (std::isfinite(value)) return write(name, value);
  write(name, std::string(std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf"));
}

FieldReader::FieldReader(std::string_view operator_name, const ProblemWords& words)
    : operator_name_(operator_name), words_(words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (words[i].first == words[j].first)
        throw Error(ErrorCode::invalid_argument,
                    "the problem of " + std::string(operator_name) + " names " + words[i].first + " twice");
    }
  }
}

void FieldReader::required(std::string_view name, std::int64_t& value) {
  optional(name, value);
  require(name);
}

void FieldReader::required(std::string_view name, PerAxis& value) {
  optional(name, value);
  require(name);
}

void FieldReader::require(std::string_view name) {
  const bool is_there = std::any_of(words_.begin(), words_.end(), [&](const auto& word) { return word.first == name; });
  if (!is_there && missing_.empty()) missing_ = name;
}

void FieldReader::optional(std::string_view name, PerAxis& value) {
  const std::string* const word = find(name);
  if (word == nullptr) return;
  std::vector<std::int64_t> numbers;
  for (std::size_t first = 0; first <= word->size();) {
    const std::size_t end = std::min(word->find('x', first), word->size());
    if (!parse(word->substr(first, end - first), numbers.emplace_back())) numbers.clear();
    if (numbers.empty()) break;
    first = end + 1;
  }
  if (numbers.size() != 3) refuse(name, *word, "three integers, for x, y and z: 64x48x1");
  value = {numbers[0], numbers[1], numbers[2]};
}

void FieldReader::optional(std::string_view name, std::int64_t& value) {
  const std::string* const word = find(name);
  if (word != nullptr && !parse(*word, value)) refuse(name, *word, "an integer of 64 bits");
}

void FieldReader::optional(std::string_view name, double& value) {
  const std::string* const word = find(name);
  if (word != nullptr && !parse(*word, value)) refuse(name, *word, "a number");
}

void FieldReader::optional(std::string_view name, bool& value) {
  const int place = choose(name, {"0", "1", "false", "true"});
  if (place >= 0) value = place % 2 == 1;
}

void FieldReader::type(DataType& type) {
  using enum DataType;
  optional("type", type, {int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64});
}

int FieldReader::choose(std::string_view name, const std::vector<std::string_view>& names) {
  const std::string* const word = find(name);
  if (word == nullptr) return -1;
  const auto place = std::find(names.begin(), names.end(), *word);
  if (place == names.end()) refuse(name, *word, "one of " + listed(names));
  return static_cast<int>(place - names.begin());
}

void FieldReader::finish() const {
  for (const auto& [name, value] : words_) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end())
      throw Error(ErrorCode::invalid_argument, "the problem of " + std::string(operator_name_) + " has no field '" +
                                                   name + "', but " +
                                                   listed(std::vector<std::string_view>(known_.begin(), known_.end())));
  }
  if (!missing_.empty())
    throw Error(ErrorCode::invalid_argument, "the problem of " + std::string(operator_name_) + " lacks " + missing_ +
                                                 ", which must be given: " + missing_ + "=...");
}

const std::string* FieldReader::find(std::string_view name) {
  known_.emplace_back(name);
  const auto place = std::find_if(words_.begin(), words_.end(), [&](const auto& word) { return word.first == name; });
  return place == words_.end() ? nullptr : &place->second;
}

void FieldReader::refuse(std::string_view name, const std::string& value, const std::string& kind) const {
  throw Error(ErrorCode::invalid_argument,
              std::string(name) + " of " + std::string(operator_name_) + " is '" + value + "', but must be " + kind);
}

}  // namespace tessera::conformance
