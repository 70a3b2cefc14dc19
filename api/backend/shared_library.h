// Opening a shared library at run time: plug-ins, drivers and vendors' libraries all come through here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tessera/export.h>

namespace tessera::backend {

/// A library that stays open for the life of the process (drivers do not survive being closed).
class TESSERA_API SharedLibrary {
 public:
  SharedLibrary() = default;
  /// Tries the names in order: sonames, or absolute paths. If none opens, the object is false and why() tells.
  explicit SharedLibrary(const std::vector<std::string>& names);

  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }  ///< the one that opened
  [[nodiscard]] const std::string& why() const noexcept { return why_; }    ///< the loader's words, one per name tried
  /// Address of a symbol, null if it is not there.
  [[nodiscard]] void* symbol(const char* name) const noexcept;
  /// The same as a function pointer: `library.function(clGetPlatformIDs_, "clGetPlatformIDs")` is false if it is
  /// missing.
  template <class Function>
  bool function(Function*& pointer, const char* name) const noexcept {
    pointer = reinterpret_cast<Function*>(symbol(name));
    return pointer != nullptr;
  }

 private:
  void* handle_ = nullptr;
  std::string name_;
  std::string why_;
};

}  // namespace tessera::backend
