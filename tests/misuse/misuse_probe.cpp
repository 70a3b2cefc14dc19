// Does one thing with the environment that it is given and prints what came of it, so that tests can see what a process
// with that environment meets: "error <code>: <what>" with status 3, or the result with status 0.
#include <sys/auxv.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/tessera.h>

/// AddressSanitizer asks for it. Its leak checker cannot look at a process with other rights than its caller's, which
/// does not take options from the environment either.
extern "C" const char* __asan_default_options();
const char* __asan_default_options() {
  return getauxval(AT_SECURE) != 0 ? "detect_leaks=0:allocator_may_return_null=1" : "allocator_may_return_null=1";
}

namespace {

using namespace tessera;

void print_backends() {
  for (const BackendInfo& backend : backends()) {
    std::printf("%s %s: %s\n", backend.name.c_str(), std::string(to_string(backend.state)).c_str(),
                backend.reason.c_str());
  }
}

void print_device(std::string_view name) {
  const Device device = open(name);
  std::printf("opened %s because %s\n", device.id().c_str(), device.info().chosen_because.c_str());
}

/// A variant that can run and leaves something open, so that it is most likely compiled for what is chosen; else the
/// last one that can run, and "" where none can.
std::string variant_to_compile(const Gemm& problem, const Device& device) {
  std::string variant;
  for (const VariantReport& report : explain(problem, device)) {
    if (!report.can_run || report.variant.starts_with("vendor_")) continue;
    variant = report.variant;
    if (!report.tunables.empty()) break;
  }
  return variant;
}

/// A small gemm, so that kernels are compiled and caches are used.
void print_product(std::string_view name) {
  const Device device = open(name);
  const Gemm problem{.m = 2, .n = 2, .k = 2};
  const auto kernel = device.kernel(problem, {.variant = variant_to_compile(problem, device)});
  const auto a = device.upload<float>(std::vector<float>{1, 2, 3, 4});
  const auto c = device.allocate<float>(4);
  Queue queue(device);
  queue.run(kernel, {.a = a, .b = a, .c = c});
  const std::vector<float> found = queue.download(c).get();
  std::printf("product %g %g %g %g\n", found[0], found[1], found[2], found[3]);
}

/// Uses one handle after it was moved from.
void use_moved(std::string_view what) {
  Device device = open();
  Queue queue(device);
  auto kernel = device.kernel(Gemm{.m = 1, .n = 1, .k = 1});
  const auto buffer = device.allocate<float>(1);
  Event event = queue.record();
  event.wait();
  if (what.starts_with("queue")) {
    const Queue taken(std::move(queue));
  } else if (what.starts_with("kernel")) {
    const auto taken = std::move(kernel);
  } else if (what.starts_with("event")) {
    const Event taken = std::move(event);
  } else {
    const Device taken = std::move(device);
  }
  if (what == "queue.run") queue.run(kernel, {.a = buffer, .b = buffer, .c = buffer});
  if (what == "queue.fill") queue.fill(buffer, 1.0F);
  if (what == "queue.finish") queue.finish();
  if (what == "queue.record") static_cast<void>(queue.record());
  if (what == "kernel.run") queue.run(kernel, {.a = buffer, .b = buffer, .c = device.allocate<float>(1)});
  if (what == "event.wait") event.wait();
  if (what == "event.is_done") static_cast<void>(event.is_done());
  if (what == "event.queue_wait") queue.wait(event);
  if (what == "event.seconds") static_cast<void>(seconds_between(event, event));
  if (what == "device.info") static_cast<void>(device.info());
  if (what == "device.allocate") static_cast<void>(device.allocate<float>(1));
  if (what == "device.allocate_pinned") static_cast<void>(device.allocate_pinned<float>(1));
  if (what == "device.upload") static_cast<void>(device.upload<float>(std::vector<float>{1}));
  if (what == "device.memory") static_cast<void>(device.memory());
  if (what == "device.trim") static_cast<void>(device.trim());
  if (what == "device.kernel") static_cast<void>(device.kernel(Gemm{.m = 1, .n = 1, .k = 1}));
  if (what == "device.compile")
    static_cast<void>(device.compile({.name = "f", .parameters = {}, .cpu = [](const WorkGroup&) {}}));
  if (what == "device.explain") static_cast<void>(explain(Gemm{.m = 1, .n = 1, .k = 1}, device));
  if (what == "device.queue") const Queue made(device);
}

void act(std::string_view action, std::string_view argument) {
  if (action == "backends") print_backends();
  if (action == "open") print_device(argument);
  if (action == "product") print_product(argument);
  if (action == "cache") std::printf("cache %s\n", cache_directory().c_str());
  if (action == "secure") std::printf("secure %lu\n", ::getauxval(AT_SECURE));
  if (action == "moved") use_moved(argument);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    act(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
    std::puts("done");
    return 0;
  } catch (const tessera::Error& error) {
    std::printf("error %s: %s\n", std::string(to_string(error.code())).c_str(), error.what());
    return 3;
  }
}
