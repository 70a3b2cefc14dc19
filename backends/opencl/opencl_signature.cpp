// Reads a kernel's parameters back from the driver and compares.
#include "opencl_signature.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tessera/error.h>

namespace tessera::opencl {

namespace {

/// A parameter as the compiler saw it.
struct SeenParameter {
  cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  bool is_const = false;
  std::string type;  ///< "float*", "uint"
};

std::optional<SeenParameter> see(const CompiledKernel& kernel, cl_uint index) {
  const OpenclApi& api = kernel.context().api();
  SeenParameter seen;
  cl_kernel_arg_type_qualifier qualifier = CL_KERNEL_ARG_TYPE_NONE;
  std::size_t size = 0;
  if (api.clGetKernelArgInfo(kernel.native(), index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(seen.space), &seen.space,
                             nullptr) != CL_SUCCESS ||
      api.clGetKernelArgInfo(kernel.native(), index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(qualifier), &qualifier,
                             nullptr) != CL_SUCCESS ||
      api.clGetKernelArgInfo(kernel.native(), index, CL_KERNEL_ARG_TYPE_NAME, 0, nullptr, &size) != CL_SUCCESS) {
    return std::nullopt;
  }
  seen.type.resize(size);
  if (api.clGetKernelArgInfo(kernel.native(), index, CL_KERNEL_ARG_TYPE_NAME, size, seen.type.data(), nullptr) !=
      CL_SUCCESS) {
    return std::nullopt;
  }
  seen.type.erase(seen.type.find_last_not_of('\0') + 1);
  seen.is_const = (qualifier & CL_KERNEL_ARG_TYPE_CONST) != 0;
  return seen;
}

/// The type's name in OpenCL C.
std::string_view opencl_name(DataType type) {
  switch (type) {
    case DataType::int8: return "char";
    case DataType::uint8: return "uchar";
    case DataType::int16: return "short";
    case DataType::uint16: return "ushort";
    case DataType::int32: return "int";
    case DataType::uint32: return "uint";
    case DataType::int64: return "long";
    case DataType::uint64: return "ulong";
    case DataType::float32: return "float";
    case DataType::float64: return "double";
  }
  return "";
}

/// What a type's name says about its elements.
struct Element {
  DataType type = DataType::uint8;
  bool is_vector = false;
};

/// Reads "float4*", "uint" or "unsigned int". Nothing for structures and names of the program's own, which say nothing
/// that could be compared.
std::optional<Element> known_element(std::string name) {
  constexpr std::string_view kUnsigned = "unsigned ";
  if (name.starts_with(kUnsigned)) name.replace(0, kUnsigned.size(), 1, 'u');
  name.erase(name.find_last_not_of(" *") + 1);
  const std::size_t length = name.find_last_not_of("0123456789") + 1;
  const bool is_vector = length < name.size();
  name.erase(length);
  for (int number = 0; number <= static_cast<int>(DataType::float64); ++number) {
    const auto type = static_cast<DataType>(number);
    if (name == opencl_name(type)) return Element{type, is_vector};
  }
  return std::nullopt;
}

std::string_view space_name(cl_kernel_arg_address_qualifier space) {
  switch (space) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL: return "__global";
    case CL_KERNEL_ARG_ADDRESS_CONSTANT: return "__constant";
    case CL_KERNEL_ARG_ADDRESS_LOCAL: return "__local";
    default: return "by value";
  }
}

bool fits(ParameterKind kind, const SeenParameter& seen) {
  switch (kind) {
    case ParameterKind::input:
      return seen.space == CL_KERNEL_ARG_ADDRESS_GLOBAL || seen.space == CL_KERNEL_ARG_ADDRESS_CONSTANT;
    case ParameterKind::output: return seen.space == CL_KERNEL_ARG_ADDRESS_GLOBAL && !seen.is_const;
    case ParameterKind::scalar: return seen.space == CL_KERNEL_ARG_ADDRESS_PRIVATE;
    case ParameterKind::local: return seen.space == CL_KERNEL_ARG_ADDRESS_LOCAL;
  }
  return false;
}

void check_parameter(const CompiledKernel& kernel, const Parameter& declared, const SeenParameter& seen) {
  const std::string place = "parameter '" + declared.name + "' of kernel '" + kernel.name() + "' is declared as ";
  const std::string in_source =
      (seen.is_const ? "const " : "") + seen.type + " (" + std::string(space_name(seen.space)) + ")";
  if (!fits(declared.kind, seen)) {
    throw Error(ErrorCode::invalid_argument,
                place + std::string(to_string(declared.kind)) + ", but its OpenCL C source has " + in_source);
  }
  const std::optional<Element> element = known_element(seen.type);
  if (!element) return;
  // A buffer may be read as vectors of its elements; a number passed by value may not.
  const bool is_vector_by_value = declared.kind == ParameterKind::scalar && element->is_vector;
  if (element->type != declared.type || is_vector_by_value) {
    throw Error(ErrorCode::invalid_argument,
                place + std::string(to_string(declared.type)) + ", but its OpenCL C source has " + in_source);
  }
}

}  // namespace

void check_signature(const CompiledKernel& kernel, const std::vector<Parameter>& declared) {
  const cl_uint count = kernel.argument_count();
  if (count != declared.size()) {
    throw Error(ErrorCode::invalid_argument, "kernel '" + kernel.name() + "' is declared with " +
                                                 std::to_string(declared.size()) +
                                                 " parameters, but its OpenCL C source has " + std::to_string(count));
  }
  for (cl_uint i = 0; i < count; ++i) {
    if (const std::optional<SeenParameter> seen = see(kernel, i)) check_parameter(kernel, declared[i], *seen);
  }
}

}  // namespace tessera::opencl
