// Whole numbers are moved so that they begin near 0, and moved back.
#include "tools/denoise/filter_voxels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <tessera/error.h>

namespace tessera::tool {

namespace {

constexpr std::uint64_t kMostSpan = std::numeric_limits<std::uint16_t>::max();

template <class To, class From>
std::vector<To> shifted(const std::vector<From>& numbers, std::uint64_t offset) {
  std::vector<To> result(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    result[i] = static_cast<To>(static_cast<std::uint64_t>(numbers[i]) - offset);
  }
  return result;
}

/// An offset with which the numbers become 16 bits, with about as much room below the least as above the largest.
template <class T>
std::uint64_t offset_of(const std::vector<T>& numbers, const std::string& name) {
  if (numbers.empty()) return 0;
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  const std::uint64_t span = static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(*least);
  if (span > kMostSpan) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} holds {} from {} to {}, but whole numbers of more than 16 bits must span at most {} to "
                            "be denoised; as float32 they may span more",
                            name, to_string(data_type_of<T>), *least, *most, kMostSpan));
  }
  const std::uint64_t below =
      static_cast<std::uint64_t>(*least) - static_cast<std::uint64_t>(std::numeric_limits<T>::min());
  return static_cast<std::uint64_t>(*least) - std::min((kMostSpan - span) / 2, below);
}

std::vector<float> in_float32(const std::vector<double>& numbers, const std::string& name) {
  std::vector<float> result(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i]) && std::abs(numbers[i]) > static_cast<double>(std::numeric_limits<float>::max())) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} holds {} as voxel {}, but float64 is denoised as float32, which ends at {}", name,
                              numbers[i], i, std::numeric_limits<float>::max()));
    }
    result[i] = static_cast<float>(numbers[i]);
  }
  return result;
}

struct ToFilter {
  const std::string& name;

  FilterVoxels operator()(std::vector<std::uint8_t>& numbers) const { return {std::move(numbers)}; }
  FilterVoxels operator()(std::vector<std::uint16_t>& numbers) const { return {std::move(numbers)}; }
  FilterVoxels operator()(std::vector<float>& numbers) const { return {std::move(numbers)}; }
  FilterVoxels operator()(std::vector<double>& numbers) const { return {in_float32(numbers, name)}; }
  FilterVoxels operator()(std::vector<std::int8_t>& numbers) const {
    constexpr auto kOffset = static_cast<std::uint64_t>(std::numeric_limits<std::int8_t>::min());
    return {shifted<std::uint8_t>(numbers, kOffset), {}, kOffset};
  }
  FilterVoxels operator()(std::vector<std::int16_t>& numbers) const {
    constexpr auto kOffset = static_cast<std::uint64_t>(std::numeric_limits<std::int16_t>::min());
    return {shifted<std::uint16_t>(numbers, kOffset), {}, kOffset};
  }
  template <class T>
  FilterVoxels operator()(std::vector<T>& numbers) const {
    const std::uint64_t offset = offset_of(numbers, name);
    return {shifted<std::uint16_t>(numbers, offset), {}, offset};
  }
};

/// The span of all but a thousandth at each end.
template <class T>
double span_of(std::vector<T> numbers) {
  if (numbers.empty()) return 0;
  const auto outside = static_cast<std::ptrdiff_t>(numbers.size() / 1000);
  const auto least = numbers.begin() + outside, most = numbers.end() - 1 - outside;
  std::nth_element(numbers.begin(), least, numbers.end());
  const auto lower = static_cast<double>(*least);
  std::nth_element(numbers.begin(), most, numbers.end());
  return static_cast<double>(*most) - lower;
}

}  // namespace

FilterVoxels to_filter(Voxels&& voxels, const std::string& name) {
  FilterVoxels result = std::visit(ToFilter{name}, voxels);
  result.stored = type_of(voxels);
  return result;
}

Voxels to_stored(FilterVoxels&& voxels) {
  if (voxels.stored == DataType::uint8) return std::get<std::vector<std::uint8_t>>(std::move(voxels.numbers));
  if (voxels.stored == DataType::uint16) return std::get<std::vector<std::uint16_t>>(std::move(voxels.numbers));
  if (voxels.stored == DataType::float32) return std::get<std::vector<float>>(std::move(voxels.numbers));
  return with_type(voxels.stored, [&voxels](auto number) -> Voxels {
    using T = decltype(number);
    std::vector<T> stored;
    std::visit(
        [&](const auto& numbers) {
          stored.resize(numbers.size());
          for (std::size_t i = 0; i < numbers.size(); ++i) {
            if constexpr (std::is_floating_point_v<T>) {
              stored[i] = static_cast<T>(numbers[i]);
            } else {
              const std::uint64_t room = static_cast<std::uint64_t>(std::numeric_limits<T>::max()) - voxels.offset;
              stored[i] = static_cast<T>(voxels.offset + std::min(static_cast<std::uint64_t>(numbers[i]), room));
            }
          }
        },
        voxels.numbers);
    return stored;
  });
}

double usual_range(const FilterVoxels& voxels) {
  if (std::holds_alternative<std::vector<std::uint8_t>>(voxels.numbers)) return 255;
  if (const auto* numbers = std::get_if<std::vector<std::uint16_t>>(&voxels.numbers)) return span_of(*numbers);
  std::vector<float> finite;
  for (const float number : std::get<std::vector<float>>(voxels.numbers)) {
    if (std::isfinite(number)) finite.push_back(number);
  }
  return span_of(std::move(finite));
}

}  // namespace tessera::tool
