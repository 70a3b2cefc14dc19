// Compiles programs and reads and writes the cache on disk.
#include "opencl_program.h"

#include <utility>

#include <tessera/cache.h>

#include "backend/program_log.h"
#include "opencl_ptx.h"

namespace tessera::opencl {

OpenclPrograms::OpenclPrograms(std::shared_ptr<OpenclContext> context)
    : context_(std::move(context)), cache_("opencl") {}

Handle<cl_program> OpenclPrograms::build(const ProgramSource& source) {
  const backend::ProgramLog log(source.name);
  const std::string key = key_of(source);
  if (Handle<cl_program> program = load(key, source)) {
    log.came_from(backend::ProgramOrigin::disk_cache);
    return program;
  }
  Handle<cl_program> program = compile(source);
  log.came_from(backend::ProgramOrigin::compiler);
  // Not asked for in vain: PoCL compiles all of a program's kernels once more before it gives it away.
  if (!cache_directory().empty()) {
    // Without a binary every process compiles.
    if (const std::vector<std::byte> binary = binary_of(program.get()); !binary.empty()) cache_.store(key, binary);
  }
  return program;
}

const Handle<cl_program>& OpenclPrograms::build_once(const ProgramSource& source) {
  std::string key = source.options + '\0' + source.text;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
  }
  // Not under the lock, so that different programs compile side by side. If two threads compile the same one, the first
  // to be done wins.
  Handle<cl_program> program = build(source);
  const std::lock_guard lock(mutex_);
  return kept_.try_emplace(std::move(key), std::move(program)).first->second;
}

std::string OpenclPrograms::key_of(const ProgramSource& source) const {
  return context_->facts().identity + '\0' + source.options + '\0' + source.text;
}

Handle<cl_program> OpenclPrograms::load(const std::string& key, const ProgramSource& source) {
  const auto stored = cache_.find(key);
  if (!stored || stored->empty()) return {};
  Handle<cl_program> program = program_of(*stored);
  // A driver that does not want the file back gets the source again: see build().
  if (!program) return {};
  const cl_device_id device = context_->facts().device;
  if (context_->api().clBuildProgram(program.get(), 1, &device, source.options.c_str(), nullptr, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  return program;
}

Handle<cl_program> OpenclPrograms::program_of(std::span<const std::byte> binary) const {
  const OpenclApi& api = context_->api();
  const cl_device_id device = context_->facts().device;
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int binary_status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  Handle<cl_program> program(
      api.clCreateProgramWithBinary(context_->native(), 1, &device, &size, &bytes, &binary_status, &code),
      api.clReleaseProgram);
  if (code != CL_SUCCESS || binary_status != CL_SUCCESS) return {};
  return program;
}

Handle<cl_program> OpenclPrograms::compile(const ProgramSource& source) {
  const OpenclApi& api = context_->api();
  const cl_device_id device = context_->facts().device;
  const char* text = source.text.data();
  const std::size_t length = source.text.size();
  cl_int code = CL_SUCCESS;
  Handle<cl_program> program(api.clCreateProgramWithSource(context_->native(), 1, &text, &length, &code),
                             api.clReleaseProgram);
  context_->check(code, "clCreateProgramWithSource");
  code = api.clBuildProgram(program.get(), 1, &device, source.options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) {
    throw_error(code, Stage::build,
                "the OpenCL compiler of '" + context_->device_name() + "' refuses '" + source.name +
                    "' with the options '" + source.options + "'",
                build_log(program.get()));
  }
  return source.is_for_sm_90a ? compile_for_sm_90a(source, program.get()) : std::move(program);
}

Handle<cl_program> OpenclPrograms::compile_for_sm_90a(const ProgramSource& source, cl_program for_sm_90) {
  const std::vector<std::byte> binary = binary_of(for_sm_90);
  const auto ptx = ptx_for_sm_90a({reinterpret_cast<const char*>(binary.data()), binary.size()});
  Handle<cl_program> program = ptx ? program_of(std::as_bytes(std::span(*ptx))) : Handle<cl_program>();
  if (!program) {
    throw_error(CL_INVALID_BINARY, Stage::build,
                "the driver of '" + context_->device_name() + "' gives or takes no PTX, of which '" + source.name +
                    "' is made for sm_90a");
  }
  const cl_device_id device = context_->facts().device;
  const cl_int code =
      context_->api().clBuildProgram(program.get(), 1, &device, source.options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) {
    throw_error(code, Stage::build,
                "the driver of '" + context_->device_name() + "' refuses PTX of '" + source.name + "' for sm_90a",
                build_log(program.get()));
  }
  return program;
}

std::vector<std::byte> OpenclPrograms::binary_of(cl_program program) const {
  const OpenclApi& api = context_->api();
  std::size_t size = 0;
  if (api.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) != CL_SUCCESS) return {};
  std::vector<std::byte> binary(size);
  auto* place = reinterpret_cast<unsigned char*>(binary.data());
  if (size == 0 || api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(place), &place, nullptr) != CL_SUCCESS) {
    return {};
  }
  return binary;
}

std::string OpenclPrograms::build_log(cl_program program) const {
  const OpenclApi& api = context_->api();
  const cl_device_id device = context_->facts().device;
  std::size_t size = 0;
  if (api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS) return {};
  std::string log(size, '\0');
  if (api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  log.erase(log.find_last_not_of('\0') + 1);
  return log;
}

std::string OpenclPrograms::kernel_names(cl_program program) const {
  const OpenclApi& api = context_->api();
  std::size_t size = 0;
  context_->check(api.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size), "clGetProgramInfo");
  std::string names(size, '\0');
  context_->check(api.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr),
                  "clGetProgramInfo");
  names.erase(names.find_last_not_of('\0') + 1);
  return names;
}

}  // namespace tessera::opencl
