// Programs: OpenCL C compiled by the driver, kept on disk so that the next process need not compile it again.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/disk_cache.h"
#include "opencl_context.h"

namespace tessera::opencl {

/// OpenCL C to compile.
struct ProgramSource {
  std::string name;  ///< for error sentences: "gemm_tiled"; of operators also the name of its kernel function
  std::string text;
  std::string options;
  bool is_for_sm_90a = false;  ///< it has lines of which opencl_ptx.h tells; NVIDIA's driver alone takes such a program
};

/// The compiler of one opened device and its two caches, on disk and in memory. Used from several threads.
class OpenclPrograms {
 public:
  explicit OpenclPrograms(std::shared_ptr<OpenclContext> context);

  /// A program, from the disk if it was compiled before with this source, these options and this driver. Throws
  /// build_failed with the compiler's whole log.
  [[nodiscard]] Handle<cl_program> build(const ProgramSource& source);
  /// The same, kept in memory for the next kernel with the same source and options. For operators, whose programs are
  /// few; the reference stays good as long as this object.
  [[nodiscard]] const Handle<cl_program>& build_once(const ProgramSource& source);

  /// Names of the kernels in a program, separated by ';'.
  [[nodiscard]] std::string kernel_names(cl_program program) const;

 private:
  [[nodiscard]] std::string key_of(const ProgramSource& source) const;
  [[nodiscard]] Handle<cl_program> load(const std::string& key, const ProgramSource& source);
  [[nodiscard]] Handle<cl_program> compile(const ProgramSource& source);
  /// Another program, of the PTX that the driver has made.
  [[nodiscard]] Handle<cl_program> compile_for_sm_90a(const ProgramSource& source, cl_program for_sm_90);
  /// A program of one device that the driver gave away, not built yet; none if it does not take it back.
  [[nodiscard]] Handle<cl_program> program_of(std::span<const std::byte> binary) const;
  /// Empty if the driver does not give its binaries away.
  [[nodiscard]] std::vector<std::byte> binary_of(cl_program program) const;
  [[nodiscard]] std::string build_log(cl_program program) const;

  std::shared_ptr<OpenclContext> context_;
  backend::DiskCache cache_;
  std::mutex mutex_;
  std::map<std::string, Handle<cl_program>> kept_;
};

}  // namespace tessera::opencl
