// An output file that is packed with gzip on its way, or not: there whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tessera::tool {

class GzipFile {
 public:
  /// As OutputFile's. Error unavailable if it is to be packed in a build without zlib.
  GzipFile(const std::string& path, const std::string& what, bool packs);
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  /// Leaves nothing behind, unless commit() was called.
  ~GzipFile();

  /// What follows is packed, and what was written stays as it is. Error unavailable in a build without zlib.
  void pack_from_here();
  /// Errors as OutputFile::commit()'s.
  void write(std::span<const std::uint8_t> bytes);
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::tool
