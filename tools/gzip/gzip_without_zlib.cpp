// What stands for gzip in a build without zlib: plain files as they are, and a sentence for packed ones.
#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/gzip/gunzip.h"
#include "tools/gzip/gzip_file.h"
#include "tools/output/output_file.h"

namespace tessera::tool {

namespace {
constexpr const char* kWithout =
    "but this program was built without zlib; install it (Debian and Ubuntu: zlib1g-dev) and build again";

[[noreturn]] void refuse_packing(const std::string& what) {
  throw Error(ErrorCode::unavailable, fmt::format("{} is to be packed with gzip, {}", what, kWithout));
}
}  // namespace

struct Gunzip::State {};

Gunzip::Gunzip(InputFile& file, std::span<const std::uint8_t> /*first*/, std::uint64_t /*begin*/) {
  throw Error(ErrorCode::unavailable, fmt::format("{} is packed with gzip, {}", file.name(), kWithout));
}

Gunzip::~Gunzip() = default;

std::size_t Gunzip::read(std::uint8_t* /*target*/, std::size_t /*size*/) {
  return 0;
}

struct GzipFile::State {
  OutputFile file;
  std::string what;
};

GzipFile::GzipFile(const std::string& path, const std::string& what, bool packs) {
  if (packs) refuse_packing(what);
  state_ = std::unique_ptr<State>(new State{OutputFile(path, what), what});
}

GzipFile::~GzipFile() = default;

void GzipFile::pack_from_here() {
  refuse_packing(state_->what);
}

void GzipFile::write(std::span<const std::uint8_t> bytes) {
  if (!state_->file.write(bytes.data(), bytes.size())) state_->file.fail();
}

void GzipFile::commit() {
  state_->file.commit();
}

}  // namespace tessera::tool
