// Files of volumes for tests: NRRD and NIfTI-1 put together by hand, right as long as the arguments are. NPY and gzip
// are in table_sample.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace tessera::testing_support {

/// Numbers as a file stores them.
template <class T>
std::string stored_as(const std::vector<T>& numbers, bool high_byte_first = false) {
  std::string bytes;
  for (const T number : numbers) {
    char one[sizeof(T)];
    std::memcpy(one, &number, sizeof(T));
    if (high_byte_first) std::reverse(one, one + sizeof(T));
    bytes.append(one, sizeof(T));
  }
  return bytes;
}

/// With fields and a comment that nothing here reads, as scanners write them.
inline std::string nrrd_head(const std::string& type, const std::string& sizes, const std::string& more) {
  const auto axes = 1 + std::count(sizes.begin(), sizes.end(), ' ');
  return "NRRD0005\n# made by hand\ntype: " + type + "\ndimension: " + std::to_string(axes) + "\nsizes: " + sizes +
         "\nspace origin: (-1.5,2,3e-2)\nspace directions: (0.5,0,0) (0,0.5,0) (0,0,2)\n" + more +
         "patient:=<b>Erika & Söhne</b>\n\n";
}
inline std::string nrrd(const std::string& type, const std::string& sizes, const std::string& data,
                        const std::string& more = "endian: little\nencoding: raw\n") {
  return nrrd_head(type, sizes, more) + data;
}

/// A head of NIfTI-1 whose fields a test may change.
class NiftiSample {
 public:
  NiftiSample(std::int16_t type, std::int16_t bits, std::initializer_list<std::int16_t> lengths, bool high_byte_first,
              const std::string& extension = "")
      : high_byte_first_(high_byte_first), bytes_(352, '\0') {
    // Something in every byte that nothing reads.
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>(i * 7 + 3);
    set<std::int32_t>(0, 348);
    for (std::size_t i = 0; i < 8; ++i) set<std::int16_t>(40 + 2 * i, 1);
    set(40, static_cast<std::int16_t>(lengths.size()));
    for (std::size_t i = 0; i < lengths.size(); ++i) set(42 + 2 * i, lengths.begin()[i]);
    set(70, type);
    set(72, bits);
    set(108, 352.0F + static_cast<float>(extension.size()));
    set(112, 0.0F);
    set(116, 0.0F);
    std::memcpy(bytes_.data() + 344, "n+1", 4);
    bytes_ += extension;
  }

  template <class T>
  NiftiSample& set(std::size_t place, T number) {
    const std::string one = stored_as(std::vector<T>{number}, high_byte_first_);
    bytes_.replace(place, one.size(), one);
    return *this;
  }
  [[nodiscard]] std::string with(const std::string& data) const { return bytes_ + data; }

 private:
  bool high_byte_first_;
  std::string bytes_;
};

/// Of the differences, squared.
template <class T>
double mean_square(const std::vector<T>& one, const std::vector<T>& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double difference = static_cast<double>(one[i]) - static_cast<double>(other[i]);
    sum += difference * difference;
  }
  return sum / static_cast<double>(one.size());
}

}  // namespace tessera::testing_support
