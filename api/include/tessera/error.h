// Every failure that the library reports: one exception type with a code and the story of what happened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include <tessera/export.h>

namespace tessera {

/// What kind of failure it was: what a program decides by.
enum class ErrorCode : std::uint8_t {
  invalid_argument,  ///< the caller's request is wrong whatever the device
  unsupported,       ///< a correct request that this device or variant cannot do
  unavailable,       ///< a device, backend or library that is not here
  out_of_memory,     ///< no memory left, after the library's own cache was given back
  build_failed,      ///< a compiler refused a kernel; log() holds its words
  device_lost,       ///< the device or its driver failed while it worked
  internal,          ///< a fault in the library itself, or a driver's answer that nobody expected
};

[[nodiscard]] TESSERA_API std::string_view to_string(ErrorCode code) noexcept;

/// Thrown by every public function that fails. Copies are cheap and do not throw. An error whose words find no memory
/// keeps its code and says so in place of them.
class TESSERA_API Error : public std::exception {
 public:
  /// What the driver underneath said, if a driver was involved.
  struct Native {
    std::int64_t code = 0;
    std::string text;  ///< the driver's name for the code: "CUDA_ERROR_ILLEGAL_ADDRESS"
  };

  /// `sentence` is one sentence in the present tense with the value, the limit and the object's name.
  Error(ErrorCode code, std::string sentence);
  Error(ErrorCode code, std::string sentence, Native native, std::string log = {});
  ~Error() override;
  Error(const Error&) noexcept;
  Error& operator=(const Error&) noexcept;

  /// out_of_memory: the process has no memory left. Allocates nothing: its words are made when the library is loaded.
  [[nodiscard]] static Error out_of_host_memory() noexcept;

  /// The same error with one more line of what was being done, innermost first: "running gemm on cuda:0". Without
  /// memory for the line, the error as it is.
  [[nodiscard]] Error while_doing(std::string_view doing) const noexcept;

  [[nodiscard]] ErrorCode code() const noexcept;
  /// The sentence alone.
  [[nodiscard]] const std::string& sentence() const noexcept;
  /// What was being done, "" if nothing was noted.
  [[nodiscard]] const std::string& doing() const noexcept;
  /// The driver's code and text; text is "" where no driver was involved.
  [[nodiscard]] const Native& native() const noexcept;
  /// A compiler's whole log, "" where there is none.
  [[nodiscard]] const std::string& log() const noexcept;
  /// Code, sentence, what was being done, the driver's words and the log, in this order.
  [[nodiscard]] const char* what() const noexcept override;

 private:
  struct Story;
  explicit Error(std::shared_ptr<const Story> story) noexcept;

  std::shared_ptr<const Story> story_;
};

namespace detail {

/// Error out_of_memory: the process has no `size_bytes` bytes left for `purpose`.
[[noreturn]] TESSERA_API void throw_out_of_host_memory(std::string_view purpose, std::size_t size_bytes);

/// What make() returns, which takes about `size_bytes` of the process's memory for `purpose`: std::bad_alloc leaves as
/// Error out_of_memory.
template <class Make>
[[nodiscard]] auto host_memory(std::string_view purpose, std::size_t size_bytes, Make&& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    throw_out_of_host_memory(purpose, size_bytes);
  }
}

}  // namespace detail

}  // namespace tessera
