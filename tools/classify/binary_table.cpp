// Numbers in binary, piece by piece.
#include "tools/classify/binary_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/input/npy_head.h"
#include "tools/input/stored_numbers.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

}  // namespace

void set_lengths(BinaryHead& head, const std::vector<std::uint64_t>& lengths, const ByteSource& source) {
  head.rows = static_cast<std::int64_t>(lengths[0]);
  std::uint64_t columns = 1;
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    // Each is at most kMostColumns before it is multiplied, so that nothing overflows.
    const std::uint64_t most = TableFile::kMostColumns;
    columns = std::min(columns, most + 1) * std::min(lengths[i], most + 1);
  }
  head.columns = static_cast<std::int64_t>(columns);
  if (columns == 0) source.refuse("says in its head that its rows hold no numbers");
  if (head.columns > TableFile::kMostColumns) {
    source.refuse(fmt::format("says in its head that a row holds {} numbers or more, but it may hold at most {}",
                              TableFile::kMostColumns + 1, TableFile::kMostColumns));
  }
  constexpr std::uint64_t kMostRows = std::uint64_t{1} << 36;  // with kMostColumns of 8 bytes: what 63 bits count
  if (lengths[0] > kMostRows) {
    source.refuse(
        fmt::format("says in its head that it holds {} rows, but it may hold at most {}", lengths[0], kMostRows));
  }
}

BinaryHead read_npy_table_head(ByteSource& source) {
  const NpyHead npy = read_npy_head(source);
  if (npy.columns_first) {
    source.refuse(fmt::format("has a head that says that columns come before rows (fortran_order), but rows must at {}",
                              source.place(npy.order_end)));
  }
  BinaryHead head{.format = "NPY", .type = npy.type, .high_byte_first = npy.high_byte_first};
  set_lengths(head, npy.lengths, source);
  return head;
}

BinaryTable::BinaryTable(std::unique_ptr<ByteSource> source, const BinaryHead& head)
    : source_(std::move(source)), head_(head), head_bytes_(source_->position()) {
  const std::optional<std::uint64_t> size = source_->size_bytes();
  if (size && *size != promised_bytes()) {
    source_->refuse(fmt::format("has {} bytes, but its head promises {} rows of {} numbers, which make {}", *size,
                                head_.rows, head_.columns, promised_bytes()));
  }
}

std::uint64_t BinaryTable::promised_bytes() const {
  return head_bytes_ + static_cast<std::uint64_t>(head_.rows) * static_cast<std::uint64_t>(head_.columns) *
                           tessera::size_bytes(head_.type);
}

std::int64_t BinaryTable::read_rows(std::int64_t most, Numbers& numbers) {
  const std::int64_t count = std::min(most, head_.rows - rows_read_);
  std::visit([&](auto& elements) { read_elements(count * head_.columns, elements); }, numbers);
  rows_read_ += count;
  // Also for what is packed: its checksum stands behind its last byte.
  std::uint8_t more = 0;
  if (rows_read_ == head_.rows && source_->read(&more, 1) != 0) {
    source_->refuse(
        fmt::format("goes on behind {}, where its head promises its end", source_->place(source_->position() - 2)));
  }
  return count;
}

template <class T>
void BinaryTable::read_elements(std::int64_t count, std::vector<T>& elements) {
  piece_.resize(kPieceBytes);
  const std::size_t element_bytes = tessera::size_bytes(head_.type);
  for (std::int64_t left = count; left > 0;) {
    const std::int64_t part = std::min(left, static_cast<std::int64_t>(kPieceBytes / element_bytes));
    const std::size_t size = static_cast<std::size_t>(part) * element_bytes;
    if (source_->read(piece_.data(), size) != size) {
      source_->refuse(fmt::format("ends at {}, but its head promises {} rows of {} numbers, which make {} bytes",
                                  source_->place(source_->position()), head_.rows, head_.columns, promised_bytes()));
    }
    with_type(head_.type, [&](auto stored) { convert<decltype(stored)>(std::span(piece_).first(size), elements); });
    left -= part;
  }
}

template <class Stored, class T>
void BinaryTable::convert(std::span<const std::uint8_t> bytes, std::vector<T>& elements) {
  if constexpr (std::is_same_v<Stored, std::uint8_t> && std::is_same_v<T, std::uint8_t>) {
    elements.insert(elements.end(), bytes.begin(), bytes.end());
    return;
  }
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(Stored)) {
    const auto number = static_cast<double>(load_number<Stored>(bytes.data() + i, head_.high_byte_first));
    if (!fits<T>(number)) {
      source_->refuse(fmt::format("holds {} at {}, {}", number, source_->place(source_->position() - bytes.size() + i),
                                  what_fits<T>()));
    }
    elements.push_back(static_cast<T>(number));
  }
}

}  // namespace tessera::tool
