// Names of the small enumerations that errors, explain() and result files print.
#include <tessera/device.h>
#include <tessera/error.h>
#include <tessera/own_kernel.h>
#include <tessera/types.h>

namespace tessera {

std::string_view to_string(DataType type) noexcept {
  switch (type) {
    case DataType::int8: return "int8";
    case DataType::uint8: return "uint8";
    case DataType::int16: return "int16";
    case DataType::uint16: return "uint16";
    case DataType::int32: return "int32";
    case DataType::uint32: return "uint32";
    case DataType::int64: return "int64";
    case DataType::uint64: return "uint64";
    case DataType::float32: return "float32";
    case DataType::float64: return "float64";
  }
  return "unknown type";
}

std::string_view to_string(Accuracy accuracy) noexcept {
  switch (accuracy) {
    case Accuracy::strict: return "strict";
    case Accuracy::accurate: return "accurate";
    case Accuracy::fast: return "fast";
  }
  return "unknown accuracy";
}

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::build_failed: return "build_failed";
    case ErrorCode::device_lost: return "device_lost";
    case ErrorCode::internal: return "internal";
  }
  return "unknown code";
}

std::string_view to_string(DeviceKind kind) noexcept {
  switch (kind) {
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::gpu: return "gpu";
    case DeviceKind::accelerator: return "accelerator";
  }
  return "unknown kind";
}

std::string_view to_string(BackendState state) noexcept {
  switch (state) {
    case BackendState::ready: return "ready";
    case BackendState::unavailable: return "unavailable";
    case BackendState::not_found: return "not found";
    case BackendState::refused: return "refused";
    case BackendState::disabled: return "disabled";
  }
  return "unknown state";
}

std::string_view to_string(ParameterKind kind) noexcept {
  switch (kind) {
    case ParameterKind::input: return "input";
    case ParameterKind::output: return "output";
    case ParameterKind::scalar: return "scalar";
    case ParameterKind::local: return "local";
  }
  return "unknown kind";
}

}  // namespace tessera
