// The cache on disk. A file is a header (magic, sizes, checksum), the whole key, and the value; all of it must agree.
#include "backend/disk_cache.h"

#include <tessera/error.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

namespace tessera::backend {
namespace {

constexpr std::array<char, 8> kMagic{'T', 'E', 'S', 'S', 'C', 'A', 'C', '1'};

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

bool write_file(const std::filesystem::path& path, const Header& header, std::string_view key,
                std::span<const std::byte> value) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(key.data(), static_cast<std::streamsize>(key.size()));
  file.write(reinterpret_cast<const char*>(value.data()), static_cast<std::streamsize>(value.size()));
  file.close();
  return !file.fail();
}

}  // namespace

DiskCache::DiskCache(std::string folder) : folder_(std::move(folder)) {}

std::filesystem::path DiskCache::path_of(std::string_view key) const {
  const std::filesystem::path root = cache_directory();
  return root.empty() ? root : root / folder_ / (hexadecimal(hash(bytes_of(key))) + ".bin");
}

std::optional<std::vector<std::byte>> DiskCache::find(std::string_view key) const {
  const std::filesystem::path path = path_of(key);
  std::error_code failure;
  const std::uintmax_t file_size = path.empty() ? 0 : std::filesystem::file_size(path, failure);
  Header header;
  if (path.empty() || failure || file_size < sizeof header) return std::nullopt;

  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || header.magic != kMagic || header.key_size != key.size() || header.value_size > file_size ||
      sizeof header + header.key_size + header.value_size != file_size) {
    return std::nullopt;
  }
  std::string stored_key(header.key_size, '\0');
  std::vector<std::byte> value(header.value_size);
  file.read(stored_key.data(), static_cast<std::streamsize>(stored_key.size()));
  file.read(reinterpret_cast<char*>(value.data()), static_cast<std::streamsize>(value.size()));
  if (!file || stored_key != key || header.checksum != hash(value, hash(bytes_of(key)))) return std::nullopt;
  return value;
}

void DiskCache::store(std::string_view key, std::span<const std::byte> value) const noexcept {
  try {
    const std::filesystem::path path = path_of(key);
    if (path.empty()) return;
    std::filesystem::create_directories(path.parent_path());

    static std::atomic<unsigned> serial{0};
    std::filesystem::path temporary = path;
    temporary += "." + std::to_string(::getpid()) + "." + std::to_string(serial++) + ".part";
    const Header header{kMagic, key.size(), value.size(), hash(value, hash(bytes_of(key)))};
    std::error_code failure;
    if (write_file(temporary, header, key, value))
      std::filesystem::rename(temporary, path, failure);
    else
      failure = std::make_error_code(std::errc::io_error);
    if (failure) std::filesystem::remove(temporary, failure);
  } catch (const std::exception&) {
    // A cache that cannot be written only costs time; the caller has what it asked for.
  }
}

}  // namespace tessera::backend
