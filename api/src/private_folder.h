// A folder of the cache or of the data that belongs to this user and that nobody else can write, so that what lies in
// it was put there by this user's programs. It is worked on through its descriptor: nothing can be exchanged between
// check and use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::detail {

/// A file that is not to be trusted.
enum class Untrusted : std::uint8_t { removed, kept };

class PrivateFolder {
 public:
  /// The folder `name` in `root`. Neither may be a link, belong to another user, or be writable by the group or by
  /// others; otherwise, or if it is not there, the object is false. `makes`: what is missing is made, with rights for
  /// this user alone.
  PrivateFolder(const std::filesystem::path& root, const std::string& name, bool makes);
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();
  [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ >= 0; }

  /// A file whole. Nothing if it is not there. One that is not to be trusted (a link, no regular file, another user's,
  /// writable by others) or larger than `most_bytes` is removed, or left as it is. Never waits.
  [[nodiscard]] std::optional<std::vector<std::byte>> read(const std::string& name, std::size_t most_bytes,
                                                           Untrusted untrusted = Untrusted::removed) const;
  /// Writes a new file and gives it its name at the end, so that readers see all of it or none. False if that fails.
  [[nodiscard]] bool write(const std::string& name, std::initializer_list<std::span<const std::byte>> parts) const;
  void remove(const std::string& name) const noexcept;
  /// Waits until no other process and no other thread holds the lock of this name, for `most_seconds`. False if that
  /// did not come, or cannot be had here. Held until the object goes.
  [[nodiscard]] bool lock(const std::string& name, double most_seconds);

 private:
  int descriptor_ = -1;
  int lock_ = -1;  ///< closing it gives the lock back
};

}  // namespace tessera::detail
