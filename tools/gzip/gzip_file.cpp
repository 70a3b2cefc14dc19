// zlib's deflate in front of OutputFile.
#include "tools/gzip/gzip_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include <tessera/error.h>

#include "tools/output/output_file.h"

namespace tessera::tool {

namespace {
constexpr int kGzip = 15 + 16;  // the largest window, and gzip's head and checksum
constexpr int kMemoryLevel = 8;
constexpr std::size_t kUnpackedBytes = std::size_t{1} << 16;
}  // namespace

struct GzipFile::State {
  State(const std::string& path, const std::string& what) : file(path, what) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (packs) deflateEnd(&stream);
  }

  void start_packing() {
    if (packs) return;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw Error(ErrorCode::out_of_memory, "zlib does not start");
    }
    packs = true;
  }

  void write_out(const std::uint8_t* bytes, std::size_t size) {
    if (!file.write(bytes, size)) file.fail();
  }

  void pack(std::span<const std::uint8_t> bytes, int flush) {
    std::array<std::uint8_t, kUnpackedBytes> packed;
    stream.next_in = const_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = packed.data();
      stream.avail_out = static_cast<uInt>(packed.size());
      if (deflate(&stream, flush) == Z_STREAM_ERROR) throw Error(ErrorCode::internal, "zlib does not pack the file");
      write_out(packed.data(), packed.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }

  OutputFile file;
  bool packs = false;
  z_stream stream = {};
};

GzipFile::GzipFile(const std::string& path, const std::string& what, bool packs)
    : state_(std::make_unique<State>(path, what)) {
  if (packs) state_->start_packing();
}

GzipFile::~GzipFile() = default;

void GzipFile::pack_from_here() {
  state_->start_packing();
}

void GzipFile::write(std::span<const std::uint8_t> bytes) {
  if (!state_->packs) return state_->write_out(bytes.data(), bytes.size());
  for (std::size_t first = 0; first < bytes.size(); first += kUnpackedBytes) {
    state_->pack(bytes.subspan(first, std::min(kUnpackedBytes, bytes.size() - first)), Z_NO_FLUSH);
  }
}

void GzipFile::commit() {
  if (state_->packs) state_->pack({}, Z_FINISH);
  state_->file.commit();
}

}  // namespace tessera::tool
