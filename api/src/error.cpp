// Error: puts the parts of the story together once, so that copies and what() cannot fail, and keeps a few words for
// when there is no memory left for others.
#include <tessera/error.h>

#include <array>
#include <new>
#include <utility>

namespace tessera {

struct Error::Story {
  ErrorCode code = ErrorCode::internal;
  std::string sentence;
  std::string doing;
  Native native;
  std::string log;
  std::string what;

  static constexpr std::size_t kCodes = static_cast<std::size_t>(ErrorCode::internal) + 1;
  static const std::array<Story, kCodes>& without_memory;
  [[nodiscard]] static std::shared_ptr<const Story> kept(ErrorCode code) noexcept;

  void compose() {
    what = std::string(to_string(code)) + ": " + sentence;
    if (!doing.empty()) what += " [while " + doing + "]";
    if (!native.text.empty()) what += " [" + native.text + ", code " + std::to_string(native.code) + "]";
    if (!log.empty()) what += "\n" + log;
  }
};

/// Made when the library is loaded, and never freed, because errors may outlive every static destructor.
const std::array<Error::Story, Error::Story::kCodes>& Error::Story::without_memory = *[] {
  auto* const stories = new std::array<Story, kCodes>;
  for (std::size_t i = 0; i < kCodes; ++i) {
    Story& story = (*stories)[i];
    story.code = static_cast<ErrorCode>(i);
    story.sentence = "the process has no memory left";
    if (story.code != ErrorCode::out_of_memory) story.sentence += " for the words of this error";
    story.compose();
  }
  return stories;
}();

/// The pointer owns nothing.
std::shared_ptr<const Error::Story> Error::Story::kept(ErrorCode code) noexcept {
  return {std::shared_ptr<void>(), &without_memory[static_cast<std::size_t>(code)]};
}

Error::Error(ErrorCode code, std::string sentence) : Error(code, std::move(sentence), Native{}) {}

Error::Error(ErrorCode code, std::string sentence, Native native, std::string log) {
  try {
    auto story = std::make_shared<Story>();
    story->code = code;
    story->sentence = std::move(sentence);
    story->native = std::move(native);
    story->log = std::move(log);
    story->compose();
    story_ = std::move(story);
  } catch (const std::bad_alloc&) {
    story_ = Story::kept(code);
  }
}

Error::~Error() = default;
Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;

Error::Error(std::shared_ptr<const Story> story) noexcept : story_(std::move(story)) {}

Error Error::out_of_host_memory() noexcept {
  return Error(Story::kept(ErrorCode::out_of_memory));
}

Error Error::while_doing(std::string_view doing) const noexcept {
  try {
    auto story = std::make_shared<Story>(*story_);
    if (!story->doing.empty()) story->doing += ", while ";
    story->doing += doing;
    story->compose();
    return Error(std::move(story));
  } catch (const std::bad_alloc&) {
    return *this;
  }
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

namespace detail {

void throw_out_of_host_memory(std::string_view purpose, std::size_t size_bytes) {
  try {
    // Not by a stream, which would swallow the want of memory and leave half a sentence.
    std::string words = "the process has no memory left for ";
    words.append(purpose).append(" of ").append(std::to_string(size_bytes)).append(" bytes");
    throw Error(ErrorCode::out_of_memory, std::move(words));
  } catch (const std::bad_alloc&) {
    throw Error::out_of_host_memory();
  }
}

}  // namespace detail

}  // namespace tessera
