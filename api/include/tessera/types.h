// The element types that buffers and operators speak of, and the three words for accuracy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <tessera/export.h>

namespace tessera {

/// Element type of a buffer or an operand.
enum class DataType : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
};

/// How far an operator may stray from its natural algorithm. The same three words for every operator.
///
/// `fast` lets gemm round float32 operands to 11 bits, as TF32 does, where a device has a variant that does
/// (scaled_half). For conv2d it gives what `accurate` gives. For cnn_layer it also admits variants whose bound is more
/// than CnnLayer::kAccurateFactor times that of `strict`.
enum class Accuracy : std::uint8_t {
  strict,    ///< the natural algorithm in the operands' type, every product rounded as that type does
  accurate,  ///< any algorithm whose proven bound is within a small documented factor of strict's
  fast,      ///< any algorithm with a proven bound, whatever its factor: KernelInfo::error_factor tells it
};

/// Name of the type as messages and result files write it: "float32".
[[nodiscard]] TESSERA_API std::string_view to_string(DataType type) noexcept;
[[nodiscard]] TESSERA_API std::string_view to_string(Accuracy accuracy) noexcept;

/// Size of one element in bytes.
[[nodiscard]] constexpr std::size_t size_bytes(DataType type) noexcept {
  switch (type) {
    case DataType::int8:
    case DataType::uint8: return 1;
    case DataType::int16:
    case DataType::uint16: return 2;
    case DataType::int32:
    case DataType::uint32:
    case DataType::float32: return 4;
    case DataType::int64:
    case DataType::uint64:
    case DataType::float64: return 8;
  }
  return 0;
}

namespace detail {
template <class>
inline constexpr bool kNoSuchDataType = false;

template <class T>
consteval DataType element_type_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>) {
    return DataType::float32;
  } else if constexpr (std::is_same_v<U, double>) {
    return DataType::float64;
  } else if constexpr (std::is_integral_v<U> && !std::is_same_v<U, bool> && sizeof(U) <= 8) {
    constexpr bool kSigned = std::is_signed_v<U>;
    if constexpr (sizeof(U) == 1) return kSigned ? DataType::int8 : DataType::uint8;
    if constexpr (sizeof(U) == 2) return kSigned ? DataType::int16 : DataType::uint16;
    if constexpr (sizeof(U) == 4) return kSigned ? DataType::int32 : DataType::uint32;
    if constexpr (sizeof(U) == 8) return kSigned ? DataType::int64 : DataType::uint64;
  } else {
    static_assert(kNoSuchDataType<T>, "tessera buffers hold 8 to 64-bit integers, float or double");
  }
}
}  // namespace detail

/// The DataType of a C++ type: `data_type_of<float> == DataType::float32`.
template <class T>
inline constexpr DataType data_type_of = detail::element_type_of<T>();

}  // namespace tessera
