// Error: puts the parts of the story together once, so that copies and what() cannot fail.
#include <tessera/error.h>

#include <utility>

namespace tessera {

struct Error::Story {
  ErrorCode code = ErrorCode::internal;
  std::string sentence;
  std::string doing;
  Native native;
  std::string log;
  std::string what;

  void compose() {
    what = std::string(to_string(code)) + ": " + sentence;
    if (!doing.empty()) what += " [while " + doing + "]";
    if (!native.text.empty()) what += " [" + native.text + ", code " + std::to_string(native.code) + "]";
    if (!log.empty()) what += "\n" + log;
  }
};

Error::Error(ErrorCode code, std::string sentence) : Error(code, std::move(sentence), Native{}) {}

Error::Error(ErrorCode code, std::string sentence, Native native, std::string log) {
  auto story = std::make_shared<Story>();
  story->code = code;
  story->sentence = std::move(sentence);
  story->native = std::move(native);
  story->log = std::move(log);
  story->compose();
  story_ = std::move(story);
}

Error::~Error() = default;
Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;

Error Error::while_doing(std::string_view doing) const {
  auto story = std::make_shared<Story>(*story_);
  if (!story->doing.empty()) story->doing += ", while ";
  story->doing += doing;
  story->compose();
  Error error(*this);
  error.story_ = std::move(story);
  return error;
}

ErrorCode Error::code() const noexcept {
  return story_->code;
}
const std::string& Error::sentence() const noexcept {
  return story_->sentence;
}
const std::string& Error::doing() const noexcept {
  return story_->doing;
}
const Error::Native& Error::native() const noexcept {
  return story_->native;
}
const std::string& Error::log() const noexcept {
  return story_->log;
}
const char* Error::what() const noexcept {
  return story_->what.c_str();
}

}  // namespace tessera
