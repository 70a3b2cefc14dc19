// libtiff's callbacks.
#include "tools/volumes/tiff_stream.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace tessera::tool {

namespace {

TiffStream& stream_of(thandle_t handle) {
  return *static_cast<TiffStream*>(handle);
}

std::uint64_t size_of(const TiffStream& stream) {
  return stream.file != nullptr ? stream.file->size_bytes().value_or(0) : stream.bytes.size();
}

tmsize_t read_bytes(thandle_t handle, void* target, tmsize_t size) {
  TiffStream& stream = stream_of(handle);
  auto* const bytes = static_cast<std::uint8_t*>(target);
  std::size_t count = 0;
  if (stream.file != nullptr) {
    count = stream.file->read_at(stream.position, bytes, static_cast<std::size_t>(size));
  } else if (stream.position < stream.bytes.size()) {
    count = std::min(static_cast<std::size_t>(size), stream.bytes.size() - stream.position);
    std::memcpy(bytes, stream.bytes.data() + stream.position, count);
  }
  stream.position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write_bytes(thandle_t handle, void* source, tmsize_t size) {
  TiffStream& stream = stream_of(handle);
  if (stream.file != nullptr) return 0;
  try {
    const std::uint64_t end = stream.position + static_cast<std::uint64_t>(size);
    if (end > stream.bytes.size()) stream.bytes.resize(end);
    std::memcpy(stream.bytes.data() + stream.position, source, static_cast<std::size_t>(size));
    stream.position = end;
    return size;
  } catch (const std::exception&) {
    stream.has_no_memory = true;
    return 0;
  }
}

toff_t seek(thandle_t handle, toff_t offset, int from) {
  TiffStream& stream = stream_of(handle);
  const std::uint64_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? stream.position : size_of(stream);
  return stream.position = base + offset;
}

toff_t ask_size(thandle_t handle) {
  return size_of(stream_of(handle));
}

int close(thandle_t /*handle*/) {
  return 0;
}

void keep_words(thandle_t handle, const char* /*module*/, const char* format, va_list arguments) {
  if (handle == nullptr) return;
  std::array<char, 200>& words = stream_of(handle).words;
  std::vsnprintf(words.data(), words.size(), format, arguments);
  // One line, of which nothing may be the file's own that a terminal obeys.
  for (char* letter = words.data(); *letter != '\0'; ++letter) {
    if (*letter < ' ' || *letter == 0x7f) *letter = ' ';
  }
}

/// Of warnings, that a tag stands where the file has ended: it would be lost silently.
void keep_lost_tag(thandle_t handle, const char* module, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  std::array<char, 64> words{};
  std::vsnprintf(words.data(), words.size(), format, again);
  va_end(again);
  if (std::strncmp(words.data(), "IO error", 8) == 0) keep_words(handle, module, format, arguments);
}

/// For the whole process: without them libtiff writes to standard error.
void set_handlers() {
  TIFFSetErrorHandler(nullptr);
  TIFFSetErrorHandlerExt(keep_words);
  TIFFSetWarningHandler(nullptr);
  TIFFSetWarningHandlerExt(keep_lost_tag);
}

/// They hold places in the file, where other tags stand that are not read.
bool leads_elsewhere(std::uint32_t tag) {
  constexpr std::uint32_t kInteroperability = 40965;
  return tag == TIFFTAG_SUBIFD || tag == TIFFTAG_EXIFIFD || tag == TIFFTAG_GPSIFD || tag == kInteroperability;
}

template <class T>
void copy_number(TIFF* from, TIFF* to, std::uint32_t tag) {
  T number{};
  if (TIFFGetField(from, tag, &number) != 0) TIFFSetField(to, tag, number);
}

template <class Count>
void copy_counted(TIFF* from, TIFF* to, std::uint32_t tag) {
  Count count = 0;
  void* values = nullptr;
  if (TIFFGetField(from, tag, &count, &values) != 0 && values != nullptr) TIFFSetField(to, tag, count, values);
}

/// A tag that libtiff keeps in its list, because it does not need it itself.
void copy_listed(TIFF* from, TIFF* to, std::uint32_t tag) {
  const TIFFField* const field = TIFFFindField(from, tag, TIFF_ANY);
  if (field == nullptr || leads_elsewhere(tag)) return;
  const TIFFDataType type = TIFFFieldDataType(field);
  const bool is_counted = TIFFFieldPassCount(field) != 0;
  const int count = TIFFFieldReadCount(field);
  if (TIFFFindField(to, tag, TIFF_ANY) == nullptr) {
    // A private tag: the new file must be told of it. libtiff keeps the name's address.
    static char name[] = "private";
    const TIFFFieldInfo info{tag,
                             static_cast<short>(count),
                             static_cast<short>(TIFFFieldWriteCount(field)),
                             type,
                             static_cast<unsigned short>(FIELD_CUSTOM),
                             1,
                             static_cast<unsigned char>(is_counted ? 1 : 0),
                             name};
    if (TIFFMergeFieldInfo(to, &info, 1) != 0) return;
  }
  if (is_counted) {
    return count == TIFF_VARIABLE2 ? copy_counted<std::uint32_t>(from, to, tag)
                                   : copy_counted<std::uint16_t>(from, to, tag);
  }
  if (type == TIFF_ASCII || count != 1) {
    void* values = nullptr;
    if (tag != TIFFTAG_DOTRANGE && TIFFGetField(from, tag, &values) != 0 && values != nullptr) {
      TIFFSetField(to, tag, values);
    }
    return;
  }
  switch (type) {
    case TIFF_BYTE: return copy_number<std::uint8_t>(from, to, tag);
    case TIFF_SHORT: return copy_number<std::uint16_t>(from, to, tag);
    case TIFF_LONG: return copy_number<std::uint32_t>(from, to, tag);
    case TIFF_LONG8: return copy_number<std::uint64_t>(from, to, tag);
    case TIFF_FLOAT:
    case TIFF_RATIONAL:
    case TIFF_SRATIONAL: return copy_number<float>(from, to, tag);
    case TIFF_DOUBLE: return copy_number<double>(from, to, tag);
    default: return;
  }
}

}  // namespace

Tiff open_tiff(TiffStream& stream, const char* mode) {
  static const bool are_set = (set_handlers(), true);
  static_cast<void>(are_set);
  stream.words = {};
  return Tiff(
      TIFFClientOpen("the file", mode, &stream, read_bytes, write_bytes, seek, close, ask_size, nullptr, nullptr));
}

void copy_tiff_tags(TIFF* from, TIFF* to) {
  copy_number<std::uint32_t>(from, to, TIFFTAG_SUBFILETYPE);
  for (const std::uint32_t tag : {TIFFTAG_ORIENTATION, TIFFTAG_RESOLUTIONUNIT}) {
    copy_number<std::uint16_t>(from, to, tag);
  }
  for (const std::uint32_t tag : {TIFFTAG_XRESOLUTION, TIFFTAG_YRESOLUTION, TIFFTAG_XPOSITION, TIFFTAG_YPOSITION}) {
    copy_number<float>(from, to, tag);
  }
  std::uint16_t page = 0, pages = 0;
  if (TIFFGetField(from, TIFFTAG_PAGENUMBER, &page, &pages) != 0) TIFFSetField(to, TIFFTAG_PAGENUMBER, page, pages);
  for (int i = 0; i < TIFFGetTagListCount(from); ++i) copy_listed(from, to, TIFFGetTagListEntry(from, i));
}

}  // namespace tessera::tool
