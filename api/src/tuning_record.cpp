// Lines are written with every field, and read only if every field is there with a value that can be.
#include "tuning_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "backend/sentence.h"
#include "json_line.h"
#include "json_text.h"
#include "printable.h"

namespace tessera::detail {
namespace {

constexpr std::int64_t kTuningFormat = 1;
/// Letters of one text; sentences of compilers can be longer and are cut.
constexpr std::size_t kMostLetters = 2000;
constexpr std::size_t kMostTunables = 32;
constexpr std::array kVerdicts{TuningVerdict::faster, TuningVerdict::not_faster, TuningVerdict::wrong,
                               TuningVerdict::failed};

[[noreturn]] void refuse_line(std::string why) {
  throw Error(ErrorCode::invalid_argument, std::move(why));
}

/// Takes fields out of an object; throws an Error for one that is not as it must be.
class FieldTaker {
 public:
  explicit FieldTaker(const JsonObject& object) : object_(object) {}

  std::string text(std::string_view name, bool may_be_empty = false) const {
    const auto* const value = std::get_if<std::string>(&field(name));
    if (value == nullptr) refuse(name, "must be a text");
    if (value->empty() && !may_be_empty) refuse(name, "is empty");
    if (value->size() > kMostLetters) refuse(name, backend::sentence("is longer than ", kMostLetters, " letters"));
    return printable(*value);
  }
  /// 0 or a time.
  double seconds(std::string_view name) const {
    const JsonValue& value = field(name);
    const auto* const real = std::get_if<double>(&value);
    const auto* const whole = std::get_if<std::int64_t>(&value);
    if (real == nullptr && whole == nullptr) refuse(name, "must be a number");
    const double seconds = real != nullptr ? *real : static_cast<double>(*whole);
    if (!(seconds >= 0)) refuse(name, backend::sentence("is ", seconds, ", but must be at least 0"));
    return seconds;
  }
  Tuning tuning(std::string_view name) const {
    const auto* const values = std::get_if<JsonObject>(&field(name));
    if (values == nullptr) refuse(name, "must be an object");
    if (values->size() > kMostTunables) refuse(name, backend::sentence("has more than ", kMostTunables, " values"));
    Tuning tuning;
    for (const JsonField& value : *values) {
      const auto* const number = std::get_if<std::int64_t>(&value.value);
      if (number == nullptr) refuse(name, "must hold integers of 64 bits");
      tuning.emplace(printable(value.name), *number);
    }
    return tuning;
  }
  TuningVerdict verdict(std::string_view name) const {
    const std::string word = text(name);
    for (const TuningVerdict verdict : kVerdicts) {
      if (word == to_string(verdict)) return verdict;
    }
    refuse(name, backend::sentence("is '", word, "', but must be faster, not_faster, wrong or failed"));
  }

 private:
  [[noreturn]] static void refuse(std::string_view name, std::string_view why) {
    refuse_line(backend::sentence("its field '", name, "' ", why));
  }
  const JsonValue& field(std::string_view name) const {
    const JsonValue* const value = find_field(object_, name);
    if (value == nullptr) refuse_line(backend::sentence("it has no field '", name, "'"));
    return *value;
  }
  const JsonObject& object_;
};

TuningLine line_of(const JsonObject& object) {
  const FieldTaker take(object);
  TuningLine line;
  line.key = {take.text("operator"), take.text("class"),   take.text("device"),
              take.text("driver"),   take.text("library"), take.text("kernels")};
  line.record.verdict = take.verdict("verdict");
  line.record.variant = take.text("variant");
  line.record.tuning = take.tuning("tuning");
  line.record.measured_s = take.seconds("measured_s");
  line.record.because = take.text("because", /*may_be_empty=*/true);
  line.default_variant = take.text("default_variant");
  line.default_s = take.seconds("default_s");
  line.problem = take.text("problem");
  line.when = take.text("when");
  const bool has_time =
      line.record.verdict == TuningVerdict::faster || line.record.verdict == TuningVerdict::not_faster;
  if (has_time != (line.record.measured_s > 0)) refuse_line("its time does not suit its verdict");
  if (has_time != line.record.because.empty()) refuse_line("its field 'because' does not suit its verdict");
  return line;
}

}  // namespace

std::string fit_for_line(std::string_view text) {
  std::string clean = is_utf8(text) ? printable(text) : "(words that are no UTF-8)";
  if (clean.size() <= kMostLetters) return clean;
  std::size_t end = kMostLetters - 3;
  while (end > 0 && (static_cast<unsigned char>(clean[end]) & 0xC0U) == 0x80) --end;
  return clean.substr(0, end) + "...";
}

std::string text_of(const TuningLine& line) {
  JsonWriter writer;
  writer.integer("format", kTuningFormat);
  const auto text = [&](std::string_view name, std::string_view value) { writer.text(name, fit_for_line(value)); };
  text("operator", line.key.operator_name);
  text("class", line.key.shape_class);
  text("device", line.key.device);
  text("driver", line.key.driver);
  text("library", line.key.library);
  text("kernels", line.key.kernels);
  text("verdict", to_string(line.record.verdict));
  text("variant", line.record.variant);
  writer.integers("tuning", line.record.tuning);
  writer.number("measured_s", line.record.measured_s);
  text("because", line.record.because);
  text("default_variant", line.default_variant);
  writer.number("default_s", line.default_s);
  text("problem", line.problem);
  text("when", line.when);
  return writer.take();
}

ReadLine read_tuning_line(std::string_view text) {
  JsonLine parsed = parse_json_line(text);
  if (auto* const why = std::get_if<std::string>(&parsed)) return std::move(*why);
  const auto& object = std::get<JsonObject>(parsed);
  const JsonValue* const format = find_field(object, "format");
  const auto* const number = format != nullptr ? std::get_if<std::int64_t>(format) : nullptr;
  if (number == nullptr) return std::string("it has no field 'format' that is an integer");
  if (*number != kTuningFormat) return OtherFormat();
  try {
    return line_of(object);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return error.sentence();
  }
}

}  // namespace tessera::detail

namespace tessera {

std::string_view to_string(TuningVerdict verdict) noexcept {
  switch (verdict) {
    case TuningVerdict::faster: return "faster";
    case TuningVerdict::not_faster: return "not_faster";
    case TuningVerdict::wrong: return "wrong";
    case TuningVerdict::failed: return "failed";
  }
  return "unknown";
}

}  // namespace tessera
