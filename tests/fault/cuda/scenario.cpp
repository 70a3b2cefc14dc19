// The walk's steps. Each is right or throws; after one that threw, the next goes on with new queues.
#include "fault/cuda/scenario.h"

#include <tessera/tessera.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace tessera::fault {
namespace {

/// Three pieces of the staging memory.
constexpr std::size_t kStaged = (std::size_t{9} << 20) / sizeof(float);

std::vector<float> numbers(std::size_t count) {
  std::vector<float> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = static_cast<float>(i % 17) - 8;
  return list;
}

class Walk {
 public:
  Outcome run() {
    if (!step("opening", [&] {
          device_.emplace(open("cuda:0"));
          return true;
        })) {
      return outcome_;
    }
    take_queues();
    step("uploading and downloading", [&] { return copies(); });
    step("copying pinned memory", [&] { return pinned(); });
    step("filling", [&] { return fills(); });
    step("two queues and an event", [&] { return two_queues(); });
    step("gemm naive", [&] { return gemm_naive(); });
    step("gemm with parts", [&] { return gemm_with_parts(); });
    step("conv2d tiled", [&] { return conv2d(); });
    step("cnn_layer with a table", [&] { return cnn_layer("implicit_gemm", 3); });
    step("cnn_layer of many launches", [&] { return cnn_layer("winograd", 16); });
    step("an own kernel", [&] { return own_kernel(); });
    step("reuse", [&] { return reuse(); });
    return outcome_;
  }

 private:
  bool step(const char* name, const std::function<bool()>& body) {
    try {
      if (queue_ == nullptr && device_) take_queues();
      if (body()) {
        ++outcome_.right;
        return true;
      }
      outcome_.wrong = std::string(name) + " gives a wrong result";
    } catch (const Error& error) {
      if (outcome_.errors++ == 0) outcome_.first_error = std::string(name) + ": " + error.what();
    } catch (const std::exception& error) {
      outcome_.wrong = std::string(name) + " throws what is no tessera::Error: " + error.what();
    }
    queue_.reset();
    second_.reset();
    return false;
  }

  void take_queues() {
    try {
      queue_ = std::make_unique<Queue>(*device_);
      second_ = std::make_unique<Queue>(*device_);
    } catch (const Error&) {
      queue_.reset();
      second_.reset();
    }
  }

  Queue& queue() {
    if (queue_ == nullptr || second_ == nullptr) throw Error(ErrorCode::unavailable, "there is no queue");
    return *queue_;
  }

  bool copies() {
    const std::vector<float> host = numbers(kStaged);
    std::vector<float>& back = back_;
    back.assign(host.size(), 0);
    auto memory = device_->allocate<float>(host.size());
    queue().upload(memory, std::vector<float>(host));
    queue().download(memory, back);
    auto third = queue().download(memory);
    queue().finish();
    return back == host && third.get() == host;
  }

  bool pinned() {
    auto from = device_->allocate_pinned<float>(5000);
    auto to = device_->allocate_pinned<float>(5000);
    std::fill(from.begin(), from.end(), 2.0F);
    auto memory = device_->allocate<float>(5000);
    queue().upload(memory, from);
    queue().download(memory, to);
    queue().finish();
    return std::equal(from.begin(), from.end(), to.begin());
  }

  bool fills() {
    auto bytes = device_->allocate<std::uint8_t>(1001);
    auto shorts = device_->allocate<std::int16_t>(1001);
    auto doubles = device_->allocate<double>(1001);
    queue().fill(bytes, std::uint8_t{7});
    queue().fill(shorts, std::int16_t{-300});
    queue().fill(doubles, 3.14159);
    return queue().download(bytes).get() == std::vector<std::uint8_t>(1001, 7) &&
           queue().download(shorts).get() == std::vector<std::int16_t>(1001, -300) &&
           queue().download(doubles).get() == std::vector<double>(1001, 3.14159);
  }

  bool two_queues() {
    auto from = device_->allocate<float>(1000);
    auto to = device_->allocate<float>(1000);
    queue().upload(from, std::vector<float>(1000, 3));
    Event first = queue().record();
    second_->wait(first);
    second_->copy(to, from);
    Event last = second_->record();
    last.wait();
    return seconds_between(first, last) >= 0 && second_->download(to).get() == std::vector<float>(1000, 3);
  }

  /// Twice, the second time on what the first gave, so that there is more than one launch under way.
  bool gemm_naive() {
    constexpr std::size_t kSize = 24;
    auto kernel = device_->kernel(Gemm{.m = kSize, .n = kSize, .k = kSize, .alpha = 0.5}, {.variant = "naive"});
    auto a = device_->upload<float>(std::vector<float>(kSize * kSize, 1));
    auto b = device_->upload<float>(std::vector<float>(kSize * kSize, 2));
    auto c = device_->allocate<float>(kSize * kSize);
    auto d = device_->allocate<float>(kSize * kSize);
    queue().run(kernel, {.a = a, .b = b, .c = c});
    queue().run(kernel, {.a = c, .b = b, .c = d});
    return queue().download(d).get() == std::vector<float>(kSize * kSize, kSize * kSize);
  }

  bool gemm_with_parts() {
    auto kernel =
        device_->kernel(Gemm{.m = 64, .n = 64, .k = 2000}, {.variant = "register", .tuning = {{"split_k", 8}}});
    auto a = device_->allocate<float>(64 * 2000);
    auto c = device_->allocate<float>(64 * 64);
    queue().run(kernel, {.a = a, .b = a, .c = c});
    queue().finish();
    return true;
  }

  bool conv2d() {
    const Conv2d problem{
        .height = 60, .width = 50, .filter_height = 3, .filter_width = 3, .filter = std::vector<double>(9, 1)};
    auto kernel = device_->kernel(problem, {.variant = "tiled"});
    auto image = device_->allocate<float>(3000);
    auto output = device_->allocate<float>(3000);
    queue().run(kernel, {.image = image, .output = output});
    queue().finish();
    return true;
  }

  bool cnn_layer(const char* variant, std::int64_t channels) {
    const CnnLayer problem{.batch = 2,
                           .input_channels = channels,
                           .output_channels = 16,
                           .height = 20,
                           .width = 20,
                           .filter_height = 3,
                           .filter_width = 3,
                           .pool_size = 2,
                           .layout = Layout::nhwc};
    auto kernel = device_->kernel(problem, {.variant = variant});
    auto input = device_->allocate<float>(2 * 400 * static_cast<std::size_t>(channels));
    auto weights = device_->allocate<float>(16 * 9 * static_cast<std::size_t>(channels));
    auto bias = device_->allocate<float>(16);
    auto output = device_->allocate<float>(2 * 16 * 81);
    auto prepared = queue().prepare_weights(kernel, weights);
    queue().run(kernel, {.input = input, .weights = prepared, .bias = bias, .output = output});
    queue().run(kernel, {.input = input, .weights = weights, .bias = bias, .output = output});
    queue().finish();
    return true;
  }

  /// Compiled by NVRTC, which needs no card; where it is not installed there is nothing to walk through.
  bool own_kernel() {
    KernelSource source;
    source.name = "walk";
    source.cuda = "extern \"C\" __global__ void walk(float* x, int count) { if (count > 0) x[0] = 1; }";
    source.parameters = {output<float>("x"), scalar<std::int32_t>("count")};
    std::optional<OwnKernel> kernel;
    try {
      kernel.emplace(device_->compile(source));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unavailable && std::string(error.what()).find("NVRTC") != std::string::npos) {
        return true;
      }
      throw;
    }
    auto x = device_->allocate<float>(1000);
    for (int i = 0; i < 3; ++i) queue().launch(*kernel, {.groups = {4}, .group_size = {32}}, x, std::int32_t{i});
    queue().finish();
    return true;
  }

  bool reuse() {
    for (std::size_t i = 0; i < 10; ++i) {
      auto memory = device_->allocate<float>(1000 + i);
      queue().fill(memory, static_cast<float>(i));
      if (queue().download(memory).get() != std::vector<float>(1000 + i, static_cast<float>(i))) return false;
    }
    static_cast<void>(device_->trim());
    return true;
  }

  Outcome outcome_;
  std::vector<float> back_;  ///< outlives the queues that write to it, whatever is thrown
  std::optional<Device> device_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Queue> second_;
};

}  // namespace

Outcome walk() {
  return Walk().run();
}

}  // namespace tessera::fault
