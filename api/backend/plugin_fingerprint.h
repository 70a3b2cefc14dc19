// How a plug-in and the library were built: the C++ ABI and the sizes of what crosses the seam. Both sides make this
// text at compile time from the same lines; if the texts differ, the plug-in is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/device.h>
#include <tessera/error.h>
#include <tessera/own_kernel.h>

#include "backend/operator_table.h"

namespace tessera::backend {

/// "C++ ABI 1017, strings of C++11 1, string 32, ...": parts apart by ", ", ended by 0.
class PluginFingerprint {
 public:
  consteval void add(std::string_view name, std::uint64_t value) {
    if (size_ > 0) append(", ");
    append(name);
    append(" ");
    std::array<char, 20> digits{};
    std::size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    while (count > 0) text[size_++] = digits[--count];
  }

  std::array<char, 1024> text{};  ///< too short would not compile

 private:
  consteval void append(std::string_view part) {
    for (const char letter : part) text[size_++] = letter;
  }
  std::size_t size_ = 0;
};

[[nodiscard]] consteval PluginFingerprint plugin_fingerprint() {
  PluginFingerprint print;
#ifdef __GXX_ABI_VERSION
  print.add("C++ ABI", __GXX_ABI_VERSION);
#endif
#ifdef _LIBCPP_ABI_VERSION
  print.add("libc++ ABI", _LIBCPP_ABI_VERSION);
#endif
#ifdef _GLIBCXX_USE_CXX11_ABI
  print.add("libstdc++ with strings of C++11", _GLIBCXX_USE_CXX11_ABI);
#endif
  print.add("sizes: string", sizeof(std::string));
  print.add("vector", sizeof(std::vector<std::string>));
  print.add("map", sizeof(std::map<std::string, std::string>));
  print.add("function", sizeof(std::function<void()>));
  print.add("shared_ptr", sizeof(std::shared_ptr<void>));
  print.add("optional", sizeof(std::optional<double>));
  print.add("Error", sizeof(Error));
  print.add("DeviceInfo", sizeof(DeviceInfo));
  print.add("KernelSource", sizeof(KernelSource));
  print.add("LaunchShape", sizeof(LaunchShape));
  print.add("OwnKernelLimits", sizeof(OwnKernelLimits));
  print.add("Tunable", sizeof(Tunable));
  print.add("Gemm", sizeof(Gemm));
  print.add("Conv2d", sizeof(Conv2d));
  print.add("CnnLayer", sizeof(CnnLayer));
  print.add("Variant", sizeof(Variant<Gemm>));
  print.add("OperatorTable", sizeof(OperatorTable));
  return print;
}

}  // namespace tessera::backend
