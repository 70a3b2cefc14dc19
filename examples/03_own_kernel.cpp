// One kernel of the program's own on every device present: how many steps each number takes to reach 1 when even
// numbers are halved and odd ones become 3 x + 1. Integers, so that every device must agree bit for bit.
#include <tessera/tessera.h>

#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

namespace {

constexpr std::uint64_t kGroupSize = 64;

constexpr const char* kOpenClSource = R"(
__kernel void count_steps(__global const uint* start, __global uint* steps, const ulong count) {
  const ulong i = get_global_id(0);
  if (i >= count) return;
  ulong x = start[i];
  uint taken = 0;
  while (x > 1) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    ++taken;
  }
  steps[i] = taken;
})";

constexpr const char* kCudaSource = R"(
extern "C" __global__ void count_steps(const unsigned* start, unsigned* steps, unsigned long long count) {
  const unsigned long long i = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  unsigned long long x = start[i];
  unsigned taken = 0;
  while (x > 1) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    ++taken;
  }
  steps[i] = taken;
})";

std::uint32_t count_steps(std::uint64_t x) {
  std::uint32_t taken = 0;
  while (x > 1) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    ++taken;
  }
  return taken;
}

tessera::KernelSource source() {
  return {.name = "count_steps",
          .parameters = {tessera::input<std::uint32_t>("start"), tessera::output<std::uint32_t>("steps"),
                         tessera::scalar<std::uint64_t>("count")},
          .opencl = kOpenClSource,
          .cuda = kCudaSource,
          .cpu = [](const tessera::WorkGroup& group, std::span<const std::uint32_t> start,
                    std::span<std::uint32_t> steps, std::uint64_t count) {
            group.for_each_item([&](const tessera::WorkItem& item) {
              const std::uint64_t i = item.global.x;
              if (i < count) steps[i] = count_steps(start[i]);
            });
          }};
}

std::vector<std::uint32_t> run_on(const tessera::Device& device, const std::vector<std::uint32_t>& numbers) {
  tessera::Queue queue(device);
  const auto start = device.upload<std::uint32_t>(numbers);
  const auto steps = device.allocate<std::uint32_t>(numbers.size());
  const tessera::OwnKernel kernel = device.compile(source());
  const std::uint64_t count = numbers.size();
  queue.launch(kernel, {.groups = {(count + kGroupSize - 1) / kGroupSize}, .group_size = {kGroupSize}}, start, steps,
               count);
  return queue.download(steps).get();
}

}  // namespace

int main() try {
  std::vector<std::uint32_t> numbers(10007), expected(numbers.size());  // a prime: the last group is not full
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::uint32_t>(i + 1);
    expected[i] = count_steps(numbers[i]);
  }

  std::size_t right = 0, wrong = 0;
  for (const tessera::DeviceInfo& info : tessera::devices()) {
    std::cout << info.id << " (" << info.name << "): ";
    try {
      const bool equal = run_on(tessera::open(info.id), numbers) == expected;
      ++(equal ? right : wrong);
      std::cout << (equal ? "right" : "wrong") << '\n';
    } catch (const tessera::Error& error) {
      // Only a missing compiler is an excuse; every other error ends the program.
      if (error.code() != tessera::ErrorCode::unavailable) throw;
      std::cout << "skipped, " << error.sentence() << '\n';
    }
  }
  std::cout << right << " right, " << wrong << " wrong\n";
  return wrong == 0 && right > 0 ? 0 : 1;
} catch (const tessera::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
