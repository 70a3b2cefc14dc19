// Reads the ELF header and the program headers. Whoever can exchange the file after this check can as well put a whole
// library in its place, so that no more is gained by holding on to what was checked.
#include "plugin_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#include "backend/sentence.h"

namespace tessera::detail {
namespace {

using backend::sentence;
using ElfHeader = ElfW(Ehdr);
using ProgramHeader = ElfW(Phdr);

/// A descriptor that is closed with the scope.
class ReadOnlyFile {
 public:
  // O_NONBLOCK: a FIFO must not hold the program up.
  explicit ReadOnlyFile(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;
  ~ReadOnlyFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// False at an error or at the end of the file.
  [[nodiscard]] bool read(void* target, std::size_t size, std::uint64_t offset) const noexcept {
    auto* place = static_cast<char*>(target);
    while (size > 0) {
      const ssize_t count = ::pread(descriptor_, place, size, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      place += count;
      offset += static_cast<std::uint64_t>(count);
      size -= static_cast<std::size_t>(count);
    }
    return true;
  }

 private:
  int descriptor_;
};

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "folder";
  if (S_ISFIFO(mode)) return "FIFO";
  if (S_ISSOCK(mode)) return "socket";
  return "device node";
}

/// The bytes that a file with these headers must at least have; nothing if the sum overflows.
std::uint64_t bytes_promised(const std::vector<ProgramHeader>& headers, bool& overflows) {
  std::uint64_t bytes = 0;
  for (const ProgramHeader& header : headers) {
    std::uint64_t end = 0;
    overflows =
        overflows || __builtin_add_overflow(std::uint64_t{header.p_offset}, std::uint64_t{header.p_filesz}, &end);
    if (header.p_type == PT_LOAD || header.p_type == PT_DYNAMIC) bytes = std::max(bytes, end);
  }
  return bytes;
}

}  // namespace

std::string why_not_loadable(const std::filesystem::path& file) {
  const ReadOnlyFile opened(file);
  struct stat facts = {};
  if (opened.descriptor() < 0 || ::fstat(opened.descriptor(), &facts) != 0) {
    return sentence("cannot be read: ", std::generic_category().message(errno));
  }
  if (!S_ISREG(facts.st_mode)) return sentence("is a ", kind_of(facts.st_mode), ", but must be a regular file");
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  ElfHeader header;
  if (!opened.read(&header, sizeof header, 0)) return sentence("has ", size, " bytes, too few for a library");
  // Not a library for this machine: no complaint from here, because the loader's own words say more.
  constexpr unsigned char kOurClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != kOurClass) return "";
  if (header.e_phentsize != sizeof(ProgramHeader)) return "";
  std::vector<ProgramHeader> headers(header.e_phnum);
  if (header.e_phoff > size || !opened.read(headers.data(), headers.size() * sizeof(ProgramHeader), header.e_phoff)) {
    return sentence("is cut off: it has ", size, " bytes, and its program headers lie beyond");
  }
  bool overflows = false;
  const std::uint64_t promised = bytes_promised(headers, overflows);
  if (overflows) return "is damaged: a segment in its headers has no end";
  if (promised > size) return sentence("is cut off: it has ", size, " bytes, but its headers promise ", promised);
  return "";
}

}  // namespace tessera::detail
