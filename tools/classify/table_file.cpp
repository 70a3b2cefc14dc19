// Which format a file has, by its first bytes.
#include "tools/classify/table_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/classify/binary_table.h"
#include "tools/classify/text_table.h"
#include "tools/input/byte_source.h"

namespace tessera::tool {

namespace {

bool is_text(std::uint8_t byte) {
  return (byte >= ' ' && byte < 0x7f) || (byte >= '\t' && byte <= '\r');
}

}  // namespace

std::unique_ptr<TableFile> open_table(const std::string& path, const std::string& what) {
  auto source = std::make_unique<ByteSource>(path, what);
  const std::span<const std::uint8_t> first = source->look_ahead(ByteSource::kMostSeen);
  if (first.empty()) source->refuse("is empty");
  if (first[0] == 0x93) {
    const BinaryHead head = read_npy_table_head(*source);
    return std::make_unique<BinaryTable>(std::move(source), head);
  }
  if (first[0] == 0) {
    const BinaryHead head = read_idx_head(*source);
    return std::make_unique<BinaryTable>(std::move(source), head);
  }
  const auto other = std::find_if_not(first.begin(), first.end(), is_text);
  if (other != first.end()) {
    source->refuse(
        fmt::format("is neither IDX, nor NPY, nor text: {} is {:#04x}", source->place(other - first.begin()), *other));
  }
  return std::make_unique<TextTable>(std::move(source));
}

}  // namespace tessera::tool
