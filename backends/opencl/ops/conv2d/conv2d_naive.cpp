// conv2d, naive: one work-item a pixel. See conv2d_naive.cl.
#include "ops/conv2d/conv2d_images.h"
#include "ops/conv2d/conv2d_variants.h"

extern "C" const unsigned char tessera_opencl_conv2d_naive[];
extern "C" const unsigned long tessera_opencl_conv2d_naive_size;

namespace tessera::opencl {

namespace {

/// 32 pixels beside each other, 8 rows. Halved, rows first, until a group is what the compiled kernel can take.
constexpr std::int64_t kColumns = 32;
constexpr std::int64_t kRows = 8;

backend::Verdict check(const Conv2d& problem, const backend::Device& device) {
  // One work-item a group is the smallest that a device may insist on.
  const bool is_small = native(device).facts().info.max_group_size < kColumns * kRows;
  return check_conv2d_groups("conv2d",
                             is_small ? conv2d_blocks(problem, 1, 1) : conv2d_blocks(problem, kRows, kColumns));
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& /*tuning*/) {
  const OpenclDevice& opencl = native(device);
  const std::string_view text(reinterpret_cast<const char*>(tessera_opencl_conv2d_naive),
                              tessera_opencl_conv2d_naive_size);
  const auto& program = opencl.programs().build_once(conv2d_program("conv2d_naive", text, problem));
  auto kernel = std::make_unique<CompiledKernel>(opencl.context(), program.get(), "conv2d_naive");
  const auto limit = static_cast<std::int64_t>(kernel->max_group_size());
  const auto row_limit = static_cast<std::int64_t>(opencl.facts().info.max_group_extent[1]);
  std::int64_t columns = kColumns;
  std::int64_t rows = kRows;
  while (rows > 1 && (rows * columns > limit || rows > row_limit)) rows /= 2;
  while (columns > 1 && columns > limit) columns /= 2;
  return bind_conv2d_weights(conv2d_launch(std::move(kernel), problem, {rows, columns, rows, columns}), problem,
                             device);
}

}  // namespace

backend::Variant<Conv2d> conv2d_naive() {
  return {.name = "naive",
          .summary = "one work-item a pixel, from global memory",
          .check = check,
          .tunables = nullptr,
          .make = make};
}

}  // namespace tessera::opencl
