// Looks through the loaded libraries for the one that holds the address, and through its notes.
#include "plugin_image.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace tessera::detail {
namespace {

struct Search {
  std::uintptr_t address = 0;
  std::span<const std::byte> id = {};
};

/// Notes begin at multiples of four bytes, and so do their parts.
std::size_t padded(std::size_t size) {
  return (size + 3) / 4 * 4;
}

std::span<const std::byte> find_build_id(std::span<const std::byte> notes) {
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    notes = notes.subspan(sizeof note);
    const std::size_t name_bytes = padded(note.n_namesz);
    const std::size_t id_bytes = padded(note.n_descsz);
    if (name_bytes > notes.size() || id_bytes > notes.size() - name_bytes) return {};
    constexpr std::string_view kOwner("GNU\0", 4);
    const bool is_gnu = note.n_namesz == kOwner.size() && std::memcmp(notes.data(), kOwner.data(), kOwner.size()) == 0;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID) return notes.subspan(name_bytes, note.n_descsz);
    notes = notes.subspan(name_bytes + id_bytes);
  }
  return {};
}

int look_into(dl_phdr_info* library, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::span headers(library->dlpi_phdr, library->dlpi_phnum);
  bool is_it = false;
  for (const auto& header : headers) {
    const std::uintptr_t start = library->dlpi_addr + header.p_vaddr;
    is_it = is_it || (header.p_type == PT_LOAD && search.address >= start && search.address - start < header.p_memsz);
  }
  if (!is_it) return 0;
  for (const auto& header : headers) {
    if (header.p_type != PT_NOTE || !search.id.empty()) continue;
    search.id = find_build_id({reinterpret_cast<const std::byte*>(library->dlpi_addr + header.p_vaddr),
                               static_cast<std::size_t>(header.p_memsz)});
  }
  return 1;
}

}  // namespace

std::string build_id_of(const void* address) {
  Search search{reinterpret_cast<std::uintptr_t>(address)};
  static_cast<void>(::dl_iterate_phdr(look_into, &search));
  std::string digits;
  for (const std::byte byte : search.id) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    digits += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    digits += kDigits[std::to_integer<unsigned>(byte) & 0xFU];
  }
  return digits;
}

}  // namespace tessera::detail
