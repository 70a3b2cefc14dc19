// Guard zones around operands.
#include "conformance/guarded_buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tessera::conformance {

namespace {

/// Bytes of each guard zone: a row of 64 doubles past the last of a 16-row tile still falls into it.
constexpr std::size_t kGuardBytes = 8192;

template <class T>
std::string bits_of(T value) {
  std::string text = "0x";
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (std::size_t i = sizeof(T); i-- > 0;) {  // highest byte first, on the little-endian machines that this runs on
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

}  // namespace

template <class T>
T poison() {
  T value;
  std::memset(&value, 0xa5, sizeof(T));
  if constexpr (sizeof(T) == sizeof(float) && !std::is_integral_v<T>) {
    constexpr std::uint32_t kBits = 0x7fd5a5a5;
    std::memcpy(&value, &kBits, sizeof(T));
  } else if constexpr (!std::is_integral_v<T>) {
    constexpr std::uint64_t kBits = 0x7ffda5a5a5a5a5a5;
    std::memcpy(&value, &kBits, sizeof(T));
  }
  return value;
}

template <class T>
GuardedBuffer<T>::GuardedBuffer(const Device& device, std::string name, std::vector<T> content,
                                std::size_t misalignment)
    : name_(std::move(name)), front_(kGuardBytes / sizeof(T) + misalignment), content_size_(content.size()) {
  auto image = std::make_shared<std::vector<T>>(front_ + content_size_ + kGuardBytes / sizeof(T), poison<T>());
  std::copy(content.begin(), content.end(), image->begin() + static_cast<std::ptrdiff_t>(front_));
  image_ = std::move(image);
  buffer_ = device.allocate<T>(image_->size(), {.label = name_ + " with guard zones"});
}

template <class T>
GuardedBuffer<T>::GuardedBuffer(const Device& device, const GuardedBuffer& like)
    : name_(like.name_),
      front_(like.front_),
      content_size_(like.content_size_),
      image_(like.image_),
      buffer_(device.allocate<T>(image_->size(), {.label = name_ + " with guard zones"})) {}

template <class T>
bool GuardedBuffer<T>::is_unchanged(const std::vector<T>& whole) const {
  return content_size_ == 0 || std::memcmp(&whole[front_], &(*image_)[front_], content_size_ * sizeof(T)) == 0;
}

template <class T>
bool GuardedBuffer<T>::differs(const std::vector<T>& whole, std::size_t index) const {
  return std::memcmp(&whole[index], &(*image_)[index], sizeof(T)) != 0;
}

template <class T>
std::string GuardedBuffer<T>::describe_change(const std::vector<T>& whole, std::size_t index) const {
  const auto place = static_cast<std::ptrdiff_t>(index) - static_cast<std::ptrdiff_t>(front_);
  return "element " + std::to_string(place) + " of the " + std::to_string(content_size_) + " of " + name_ +
         " was written: it held " + bits_of((*image_)[index]) + " and holds " + bits_of(whole[index]);
}

template <class T>
std::string GuardedBuffer<T>::find_damage(const std::vector<T>& whole) const {
  for (std::size_t i = 0; i < image_->size(); ++i) {
    if (i == front_) i += content_size_;
    if (i < image_->size() && differs(whole, i)) return describe_change(whole, i) + " (guard zone)";
  }
  return "";
}

template float poison();
template double poison();
template std::uint8_t poison();
template std::int16_t poison();
template std::uint16_t poison();
template std::int32_t poison();
template std::int64_t poison();
template class GuardedBuffer<float>;
template class GuardedBuffer<double>;
template class GuardedBuffer<std::uint8_t>;
template class GuardedBuffer<std::int16_t>;
template class GuardedBuffer<std::uint16_t>;
template class GuardedBuffer<std::int32_t>;
template class GuardedBuffer<std::int64_t>;

}  // namespace tessera::conformance
