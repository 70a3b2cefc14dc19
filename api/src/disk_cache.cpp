// The cache on disk. A file is a header (magic, sizes, checksum), the whole key, and the value; all of it must agree.
// Whose folders and files are trusted is decided in private_folder.
#include "backend/disk_cache.h"

#include <tessera/error.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "backend/sentence.h"
#include "private_folder.h"

namespace tessera::backend {
namespace {

constexpr std::array<char, 8> kMagic{'T', 'E', 'S', 'S', 'C', 'A', 'C', '1'};
/// Of a whole file. Programs are of some hundred kilobytes; a file that claims more must not take the memory for it.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t key_size = 0;
  std::uint64_t value_size = 0;
  std::uint64_t checksum = 0;  ///< of key and value
};

/// FNV-1a, 64 bits: finds damage and names files; equality is decided by the whole key.
std::uint64_t hash(std::span<const std::byte> bytes, std::uint64_t seed = 0xcbf29ce484222325ULL) {
  std::uint64_t value = seed;
  for (const std::byte byte : bytes) value = (value ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
  return value;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string file_of(std::string_view key) {
  return hexadecimal(hash(bytes_of(key))) + ".bin";
}

/// The header, if the file is as long as it says and nothing in it is damaged.
std::optional<Header> whole_header(std::span<const std::byte> file) {
  Header header;
  if (file.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  const std::span<const std::byte> rest = file.subspan(sizeof header);
  if (header.magic != kMagic || header.key_size > rest.size() || header.value_size != rest.size() - header.key_size ||
      header.checksum != hash(rest)) {
    return std::nullopt;
  }
  return header;
}

}  // namespace

DiskCache::DiskCache(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty() || folder_ == "." || folder_ == ".." || folder_.find('/') != std::string::npos) {
    throw Error(ErrorCode::invalid_argument, sentence("the folder of the cache is '", folder_,
                                                      "', but must be one name without a slash, and not . or .."));
  }
}

std::filesystem::path DiskCache::path_of(std::string_view key) const {
  const std::filesystem::path root = cache_directory();
  return root.empty() ? root : root / folder_ / file_of(key);
}

std::optional<std::vector<std::byte>> DiskCache::find(std::string_view key) const {
  const std::filesystem::path root = cache_directory();
  if (root.empty()) return std::nullopt;
  const detail::PrivateFolder folder(root, folder_, /*makes=*/false);
  if (!folder) return std::nullopt;
  const std::string name = file_of(key);
  std::optional<std::vector<std::byte>> bytes = folder.read(name, kMostBytes);
  if (!bytes) return std::nullopt;
  const std::optional<Header> header = whole_header(*bytes);
  if (!header) {
    folder.remove(name);
    return std::nullopt;
  }
  // Whole, but of another key with the same hash: it may stay.
  const auto value = bytes->begin() + static_cast<std::ptrdiff_t>(sizeof(Header) + header->key_size);
  if (!std::equal(bytes->begin() + sizeof(Header), value, bytes_of(key).begin(), bytes_of(key).end())) {
    return std::nullopt;
  }
  bytes->erase(bytes->begin(), value);
  return bytes;
}

void DiskCache::store(std::string_view key, std::span<const std::byte> value) const noexcept {
  try {
    const std::filesystem::path root = cache_directory();
    if (root.empty() || value.size() > kMostBytes || key.size() > kMostBytes - sizeof(Header) - value.size()) return;
    const detail::PrivateFolder folder(root, folder_, /*makes=*/true);
    if (!folder) return;
    const Header header{kMagic, key.size(), value.size(), hash(value, hash(bytes_of(key)))};
    static_cast<void>(folder.write(file_of(key), {std::as_bytes(std::span(&header, 1)), bytes_of(key), value}));
  } catch (const std::exception&) {
    // A cache that cannot be written only costs time; the caller has what it asked for.
  }
}

}  // namespace tessera::backend

namespace tessera {

std::optional<std::string> find_in_cache(std::string_view folder, std::string_view key) {
  const auto bytes = backend::DiskCache(std::string(folder)).find(key);
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

void store_in_cache(std::string_view folder, std::string_view key, std::string_view value) {
  backend::DiskCache(std::string(folder)).store(key, std::as_bytes(std::span(value)));
}

}  // namespace tessera
