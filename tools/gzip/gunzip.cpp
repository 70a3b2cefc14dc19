// zlib's inflate behind Gunzip.
#include "tools/gzip/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {
constexpr std::size_t kPackedBytes = std::size_t{1} << 16;
constexpr int kGzipAlone = 15 + 16;  // the largest window, and gzip's head and checksum, not zlib's
}  // namespace

struct Gunzip::State {
  State(InputFile& from, std::span<const std::uint8_t> first, std::uint64_t begin) : file(from), packed(kPackedBytes) {
    if (inflateInit2(&stream, kGzipAlone) != Z_OK) throw Error(ErrorCode::out_of_memory, "zlib does not start");
    std::copy(first.begin(), first.end(), packed.begin());
    stream.next_in = packed.data();
    stream.avail_in = static_cast<uInt>(first.size());
    taken = begin + first.size();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { inflateEnd(&stream); }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is packed with gzip, but {} at byte {} of the packed file",
                                                         file.name(), why, taken - stream.avail_in));
  }

  /// False at the end of the file.
  bool refill() {
    if (stream.avail_in > 0) return true;
    const std::size_t count = file.read(packed.data(), packed.size());
    stream.next_in = packed.data();
    stream.avail_in = static_cast<uInt>(count);
    taken += count;
    return count > 0;
  }

  /// One step of zlib's; sees to what stands between two packed parts. False when there is no more.
  bool step() {
    if (!refill()) {
      if (is_between_parts || file.error() != 0 || is_interrupted()) return false;
      refuse("is cut off");
    }
    if (is_between_parts && *stream.next_in != 0x1f) refuse("goes on with something else");
    is_between_parts = false;
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw Error::out_of_host_memory();
    if (result == Z_STREAM_END) {
      is_between_parts = true;
      static_cast<void>(inflateReset(&stream));
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      refuse(fmt::format("is damaged ({})", stream.msg != nullptr ? stream.msg : "no reason given"));
    }
    return true;
  }

  InputFile& file;
  std::vector<std::uint8_t> packed;
  std::uint64_t taken = 0;  ///< bytes of the file
  bool is_between_parts = false;
  z_stream stream = {};
};

Gunzip::Gunzip(InputFile& file, std::span<const std::uint8_t> first, std::uint64_t begin)
    : state_(std::make_unique<State>(file, first, begin)) {}

Gunzip::~Gunzip() = default;

std::size_t Gunzip::read(std::uint8_t* target, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const std::size_t most = std::min(size - done, kPackedBytes);
    state_->stream.next_out = target + done;
    state_->stream.avail_out = static_cast<uInt>(most);
    const bool goes_on = state_->step();
    done += most - state_->stream.avail_out;
    if (!goes_on) break;
  }
  return done;
}

}  // namespace tessera::tool
