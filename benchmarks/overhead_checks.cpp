// Runs the library and the bare driver in turn, round by round, so that both see the same machine; the median of the
// rounds' ratios is what counts.
#include "benchmarks/overhead_checks.h"

#include <array>
#include <chrono>
#include <functional>
#include <memory>

#include <tessera/tessera.h>

#include "benchmarks/bare_driver.h"
#include "benchmarks/tiny_kernel.h"
#include "tools/bench/statistics.h"
#include "tools/process/interrupt.h"

namespace tessera::benchmarks {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 21;
constexpr int kLaunches = 1000;
constexpr std::size_t kCopyBytes = std::size_t{256} << 20;
constexpr int kAllocations = 64;
/// The limits that the project promises (benchmarks/README.md says them too).
constexpr double kLaunchAtMost = 1.5;
constexpr double kCopyAtLeast = 0.95;
constexpr double kAllocateAtMost_s = 1e-6;

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Both sides in turn, each first in every second round. `divisor` runs are in one call.
void compare(OverheadRecord& record, const std::function<void()>& library, const std::function<void()>& driver,
             double divisor, bool as_rate) {
  library();
  driver();
  std::vector<double> library_s;
  std::vector<double> driver_s;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    tool::stop_if_interrupted();
    const bool library_first = round % 2 == 0;
    const double first = seconds_of(library_first ? library : driver);
    const double second = seconds_of(library_first ? driver : library);
    library_s.push_back((library_first ? first : second) / divisor);
    driver_s.push_back((library_first ? second : first) / divisor);
    ratios.push_back(as_rate ? driver_s.back() / library_s.back() : library_s.back() / driver_s.back());
  }
  record.ours_s = tool::summarise(library_s).median;
  record.driver_s = tool::summarise(driver_s).median;
  record.ratio = tool::summarise(ratios).median;
}

KernelSource tiny_source() {
  KernelSource source{.name = "tiny",
                      .parameters = {input<float>("a"), input<float>("b"), output<float>("c")},
                      .opencl = kTinyOpencl,
                      .cuda = kTinyCuda};
  for (const char* size : {"m", "n", "k", "lda", "ldb", "ldc"}) source.parameters.push_back(scalar<std::int64_t>(size));
  for (const char* factor : {"alpha", "beta"}) source.parameters.push_back(scalar<float>(factor));
  return source;
}

/// The smallest gemm, and an own kernel of the same size, against the driver's launch of a tiny kernel.
void measure_launches(const Device& device, BareDriver& driver, std::vector<OverheadRecord>& records) {
  const std::array<float, 2> start{1.5F, 2.0F};
  const auto a = device.upload<float>({start.data(), 1});
  const auto b = device.upload<float>({start.data() + 1, 1});
  const auto c = device.allocate<float>(1);
  Queue queue(device);
  const auto gemm = device.kernel(Gemm{.m = 1, .n = 1, .k = 1}, {.variant = "naive"});
  const auto bare = [&] {
    for (int i = 0; i < kLaunches; ++i) driver.launch();
    driver.finish();
  };
  records.push_back({.check = "run", .device = device.id(), .at_most = kLaunchAtMost});
  compare(
      records.back(),
      [&] {
        for (int i = 0; i < kLaunches; ++i) queue.run(gemm, {.a = a, .b = b, .c = c});
        queue.finish();
      },
      bare, kLaunches, false);
  const float library_result = queue.download(c).get().front();
  if (library_result != driver.result()) {
    throw DriverError("the library's kernel and the driver's kernel do not compute the same number");
  }

  records.push_back({.check = "launch", .device = device.id()});
  const OwnKernel tiny = device.compile(tiny_source());
  const LaunchShape shape{.groups = {1}, .group_size = {kTinyGroupWidth, kTinyGroupHeight}};
  const std::int64_t one = 1;
  const BufferView<const float> a_view = a;
  const BufferView<const float> b_view = b;
  compare(
      records.back(),
      [&] {
        for (int i = 0; i < kLaunches; ++i) {
          queue.launch(tiny, shape, a_view, b_view, c, one, one, one, one, one, one, 1.0F, 0.0F);
        }
        queue.finish();
      },
      bare, kLaunches, false);
}

void measure_copies(const Device& device, BareDriver& driver, bool with_limits, std::vector<OverheadRecord>& records) {
  driver.prepare_copies(kCopyBytes);
  const auto buffer = device.allocate<std::uint8_t>(kCopyBytes);
  const auto pinned = device.allocate_pinned<std::uint8_t>(kCopyBytes);
  for (std::size_t i = 0; i < kCopyBytes; i += 4096) pinned[i] = 1;
  Queue queue(device);
  const auto limit = with_limits ? std::optional(kCopyAtLeast) : std::nullopt;
  records.push_back({.check = "upload", .device = device.id(), .at_least = limit});
  compare(
      records.back(), [&] { queue.upload(buffer, pinned), queue.finish(); }, [&] { driver.upload(), driver.finish(); },
      1, true);
  records.push_back({.check = "download", .device = device.id(), .at_least = limit});
  compare(
      records.back(), [&] { queue.download(buffer, pinned), queue.finish(); },
      [&] { driver.download(), driver.finish(); }, 1, true);
}

/// Allocations of one size from the cache, without giving them back in between.
OverheadRecord measure_allocation(const Device& device, bool with_limit) {
  constexpr std::size_t kElements = std::size_t{1} << 18;
  std::array<Buffer<float>, kAllocations> buffers;
  const auto give_back = [&] {
    for (auto& buffer : buffers) buffer.reset();
  };
  const auto allocate = [&] {
    for (auto& buffer : buffers) buffer = device.allocate<float>(kElements);
  };
  OverheadRecord record{.check = "allocate", .device = device.id()};
  if (with_limit) record.at_most = kAllocateAtMost_s;
  allocate();
  give_back();
  const std::uint64_t hits_before = device.memory().cache_hits;
  std::vector<double> samples;
  for (int round = 0; round < kRounds * 10; ++round) {
    samples.push_back(seconds_of(allocate) / kAllocations);
    give_back();
  }
  record.ours_s = tool::summarise(samples).median;
  const std::uint64_t hits = device.memory().cache_hits - hits_before;
  if (hits != samples.size() * kAllocations) record.reason = "some allocations did not come from the cache";
  return record;
}

std::unique_ptr<BareDriver> open_bare_driver(const DeviceInfo& info) {
  if (info.backend == "cuda") return open_bare_cuda(info);
  if (info.backend == "opencl") return open_bare_opencl(info);
  return nullptr;  // the CPU backend has no driver to compare with
}

}  // namespace

bool OverheadRecord::kept() const {
  if (!reason.empty()) return !has_limit();
  return (!at_most || judged() <= *at_most) && (!at_least || judged() >= *at_least);
}

tool::Json to_json(const OverheadRecord& record) {
  const auto number = [](const std::optional<double>& value) { return value ? tool::Json(*value) : tool::Json(); };
  const bool measured = record.reason.empty();
  return {{"check", record.check},
          {"device", record.device},
          {"library_s", measured ? tool::Json(record.ours_s) : tool::Json()},
          {"driver_s", number(record.driver_s)},
          {"ratio", number(record.ratio)},
          {"at_most", number(record.at_most)},
          {"at_least", number(record.at_least)},
          {"status", !record.has_limit() ? "reported" : (record.kept() ? "kept" : "missed")},
          {"reason", measured ? tool::Json() : tool::Json(record.reason)}};
}

std::vector<OverheadRecord> measure_overhead(const Device& device) {
  const DeviceInfo info = device.info();
  const bool gpu = info.kind != DeviceKind::cpu;
  std::vector<OverheadRecord> records;
  records.push_back(measure_allocation(device, gpu));
  // What stops a comparison half-way is the reason of the check that it stopped; `first` is that check if none began.
  const auto attempt = [&](const OverheadRecord& first, const std::function<void()>& comparison) {
    const std::size_t before = records.size();
    const auto note = [&](const std::string& reason) {
      if (records.size() == before) records.push_back(first);
      records.back().reason = reason;
    };
    try {
      comparison();
    } catch (const Error& error) {
      note(error.sentence());
    } catch (const DriverError& error) {
      note(error.what());
    }
  };
  const OverheadRecord run{.check = "run", .device = device.id(), .at_most = kLaunchAtMost};
  OverheadRecord upload{.check = "upload", .device = device.id()};
  if (gpu) upload.at_least = kCopyAtLeast;
  std::unique_ptr<BareDriver> driver;
  attempt(run, [&] { driver = open_bare_driver(info); });
  if (!driver) return records;
  attempt(run, [&] { measure_launches(device, *driver, records); });
  attempt(upload, [&] { measure_copies(device, *driver, gpu, records); });
  device.trim();
  return records;
}

}  // namespace tessera::benchmarks
