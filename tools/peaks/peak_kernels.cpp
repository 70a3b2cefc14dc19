// Sources of the peak kernels. A GPU hides the latency by many work-items with scalar chains; a CPU has one work-item a
// core at a time, so there each chain is a vector as wide as the machine's registers.
#include "tools/peaks/peak_kernels.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "tools/peaks/cpu_bytes.h"
#include "tools/peaks/cpu_fma.h"

namespace tessera::tool {

namespace {

/// Full occupancy in whole waves on every GPU known: 8 groups of 256 fill a multiprocessor of 2048 work-items.
constexpr std::uint64_t kGpuGroupSize = 256;
constexpr std::uint64_t kGpuGroupsPerUnit = 16;
/// More than one group for each core evens out what else runs on the machine.
constexpr std::uint64_t kCpuGroupsPerUnit = 4;

/// "x0 = fma(x0, f, t); x1 = ..." and the like, for every chain.
std::string for_each_chain(const std::string& statement, const std::string& separator) {
  std::string text;
  for (int chain = 0; chain < kFmaChains; ++chain) {
    if (chain > 0) text += separator;
    text += fmt::format(fmt::runtime(statement), chain);
  }
  return text;
}

/// Sixteen times `step` for every chain in each turn of the loop.
std::string chains_body(const std::string& step) {
  return "  VALUE " + for_each_chain("x{0} = t * {0}", ", ") +
         ";\n"
         "  for (int step = 0; step < iterations; step += 16) {\n"
         "#pragma unroll\n"
         "    for (int part = 0; part < 16; ++part) {\n      " +
         for_each_chain(step, " ") + "\n    }\n  }\n  VALUE sum = " + for_each_chain("x{0}", " + ") + ";\n";
}

/// Floats have a function for it; of whole numbers compilers know.
std::string multiply_add(bool is_floating) {
  return is_floating ? "x{0} = fma(x{0}, f, t);" : "x{0} = x{0} * f + t;";
}

std::string opencl_fma(const std::string& scalar, int width, bool is_floating) {
  const std::string suffix = width == 1 ? "" : fmt::format("{}", width);
  std::string text;
  if (scalar == "double") text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  text += fmt::format("typedef {}{} VALUE;\n", scalar, suffix);
  text += fmt::format("__kernel void peak_fma(__global {0}* sums, {0} factor, {0} term, int iterations) {{\n", scalar);
  text += "  const VALUE f = (VALUE)(factor), t = (VALUE)(term);\n" + chains_body(multiply_add(is_floating));
  text += width == 1 ? "  sums[get_global_id(0)] = sum;\n}\n"
                     : fmt::format("  vstore{}(sum, get_global_id(0), sums);\n}}\n", width);
  return text;
}

std::string cuda_chains(const std::string& name, const std::string& scalar, const std::string& step) {
  return fmt::format(
             "typedef {0} VALUE;\nextern \"C\" __global__ void {1}({0}* sums, {0} factor, {0} term, "
             "int iterations) {{\n  const VALUE f = factor, t = term;\n",
             scalar, name) +
         chains_body(step) + "  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;\n}\n";
}

template <class T>
KernelSource fma_source(const std::string& opencl_name, const std::string& cuda_name, int width) {
  constexpr bool kIsFloating = std::is_floating_point_v<T>;
  return {.name = "peak_fma",
          .parameters = {output<T>("sums"), scalar<T>("factor"), scalar<T>("term"), scalar<std::int32_t>("iterations")},
          .opencl = opencl_fma(opencl_name, width, kIsFloating),
          .cuda = cuda_chains("peak_fma", cuda_name, multiply_add(kIsFloating)),
          // As many operations as an OpenCL work-item with vectors of this width does, in this CPU's own width.
          .cpu =
              [width](const WorkGroup& group, std::span<T> sums, T factor, T term, std::int32_t iterations) {
                const std::int64_t own = std::int64_t{iterations} * width / cpu_fma_lanes<T>();
                sums[group.id.x] = cpu_fma<T>(factor, term, own);
              },
          .label = fmt::format("peak of {} multiply-adds", opencl_name)};
}

/// The launch that fills the device, with `operations` of one work-item in an iteration.
ChainProgram filling(const DeviceInfo& info, KernelSource source, int width, double operations) {
  ChainProgram program;
  program.source = std::move(source);
  const std::uint64_t units = std::max(info.compute_units, 1U);
  const bool gpu = info.kind != DeviceKind::cpu;
  program.shape.groups.x = units * (gpu ? kGpuGroupsPerUnit : kCpuGroupsPerUnit);
  program.shape.group_size.x = gpu ? std::min(kGpuGroupSize, std::max<std::uint64_t>(info.max_group_size, 1)) : 1;
  const std::uint64_t items = program.shape.groups.volume() * program.shape.group_size.volume();
  program.output_elements = static_cast<std::size_t>(items) * static_cast<std::size_t>(width);
  program.operations_per_iteration = operations * static_cast<double>(items);
  return program;
}

ChainProgram fma_program(const DeviceInfo& info, DataType type, int width) {
  const double operations = 2.0 * kFmaChains * width;
  if (type == DataType::float64) return filling(info, fma_source<double>("double", "double", width), width, operations);
  if (type == DataType::float32) return filling(info, fma_source<float>("float", "float", width), width, operations);
  return filling(info, fma_source<std::uint32_t>("uint", "unsigned", width), width, operations);
}

/// On a CPU `run` with the given count of operations in an iteration; on a GPU its instruction for them.
template <class Run>
ChainProgram dot_program(const DeviceInfo& info, double cpu_operations, const Run& run) {
  constexpr double kOfADotProduct = 8;  // four products and four sums
  KernelSource source{
      .name = "peak_dot",
      .parameters = {output<std::uint32_t>("sums"), scalar<std::uint32_t>("factor"), scalar<std::uint32_t>("term"),
                     scalar<std::int32_t>("iterations")},
      .opencl = "",
      .cuda = cuda_chains("peak_dot", "unsigned", "x{0} = __dp4a(x{0}, f, t);"),
      .cpu = [run](const WorkGroup& group, std::span<std::uint32_t> sums, std::uint32_t factor, std::uint32_t term,
                   std::int32_t iterations) { sums[group.id.x] = run(factor, term, iterations); },
      .label = "peak of dot products of bytes"};
  const bool is_cpu = info.kind == DeviceKind::cpu;
  return filling(info, std::move(source), 1, is_cpu ? cpu_operations : kFmaChains * kOfADotProduct);
}

}  // namespace

std::vector<ChainProgram> fma_programs(const DeviceInfo& info, DataType type) {
  if (info.kind != DeviceKind::cpu) return {fma_program(info, type, 1)};
  std::vector<ChainProgram> programs;
  for (const int width : {4, 8, 16}) {
    if (type == DataType::float64 && width == 16) continue;  // two registers for each chain: they would spill
    programs.push_back(fma_program(info, type, width));
  }
  return programs;
}

std::vector<ChainProgram> dot_programs(const DeviceInfo& info) {
  std::vector<ChainProgram> programs{dot_program(info, cpu_dot_operations(), cpu_dot)};
  if (info.kind == DeviceKind::cpu && cpu_has_tiles()) {
    programs.push_back(dot_program(info, cpu_tile_operations(),
                                   [](std::uint32_t /*factor*/, std::uint32_t /*term*/, std::int64_t iterations) {
                                     return cpu_tiles(iterations);
                                   }));
  }
  return programs;
}

CopyProgram copy_program(const DeviceInfo& info) {
  CopyProgram program;
  program.source = {
      .name = "peak_copy",
      .parameters = {input<std::uint32_t>("from"), output<std::uint32_t>("to"), scalar<std::uint64_t>("words")},
      .opencl =
          "__kernel void peak_copy(__global const uint4* from, __global uint4* to, ulong words) {\n"
          "  const ulong stride = get_global_size(0);\n"
          "  for (ulong word = get_global_id(0); word < words; word += stride) to[word] = from[word];\n"
          "}\n",
      .cuda =
          "extern \"C\" __global__ void peak_copy(const unsigned* from, unsigned* to, unsigned long long words) {\n"
          "  const uint4* source = (const uint4*)from;\n"
          "  uint4* destination = (uint4*)to;\n"
          "  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;\n"
          "  for (unsigned long long word = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
          "       word < words; word += stride) destination[word] = source[word];\n"
          "}\n",
      // One contiguous part for each group: the C library's memcpy writes past the caches when it is that long.
      .cpu =
          [](const WorkGroup& group, std::span<const std::uint32_t> from, std::span<std::uint32_t> to,
             std::uint64_t words) {
            const std::uint64_t first = words * group.id.x / group.groups.x * (kCopyWordBytes / 4);
            const std::uint64_t last = words * (group.id.x + 1) / group.groups.x * (kCopyWordBytes / 4);
            std::memcpy(to.data() + first, from.data() + first, (last - first) * sizeof(std::uint32_t));
          },
      .label = "peak of copies"};
  const std::uint64_t units = std::max(info.compute_units, 1U);
  const bool gpu = info.kind != DeviceKind::cpu;
  program.shape.groups.x = gpu ? units * kGpuGroupsPerUnit : units;
  program.shape.group_size.x = gpu ? std::min(kGpuGroupSize, std::max<std::uint64_t>(info.max_group_size, 1)) : 1;
  return program;
}

}  // namespace tessera::tool
