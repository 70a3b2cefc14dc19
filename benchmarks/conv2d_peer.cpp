// All contenders run once in each round, in an order that turns, so that they see the same machine. Pixels and weights
// are small integers, so that float sums are exact and all results must be equal, bit for bit.
#include "benchmarks/conv2d_peer.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <tessera/tessera.h>
#include <opencv2/imgproc.hpp>

#include "benchmarks/triad.h"
#include "conformance/inputs.h"
#include "tools/process/interrupt.h"

namespace tessera::benchmarks {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kEdge = 4096;
constexpr std::size_t kPixels = std::size_t{kEdge} * kEdge;
constexpr std::size_t kFewestRounds = 9;
/// Read and written at least: an image in, an image out.
constexpr double kBytes = 2.0 * kPixels * sizeof(float);

/// What int32 on one thread must reach against filter2D in float.
double floor_of(int size) {
  return size == 3 ? 1.6 : size == 5 ? 1.7 : 1.5;
}

struct Images {
  Images() : integers(kPixels), floats(kPixels), any(kPixels) {
    for (std::size_t i = 0; i < kPixels; ++i) {
      integers[i] = static_cast<std::int32_t>(conformance::random_below(2001, 11, i)) - 1000;
      floats[i] = static_cast<float>(integers[i]);
      any[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(conformance::random_below(1ULL << 32, 12, i)));
    }
  }
  std::vector<std::int32_t> integers;
  std::vector<float> floats;
  std::vector<std::int32_t> any;
};

/// Of rank 1: separable takes it.
std::vector<double> filter_of(int size) {
  std::vector<double> weights;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) weights.push_back((i % 3 + 1) * (j % 4 - 1 + (j % 2) * 2));
  }
  return weights;
}

/// Something that computes the same image again and again.
struct Contender {
  PeerRecord record;
  std::function<void()> run;
  std::function<std::vector<float>()> result;
  std::vector<double> times_s = {};
};

/// The library's kernel, with operands and queue of its own.
template <class T>
struct Library {
  Library(const std::vector<T>& pixels, const Conv2d& problem, const PeerRecord& of)
      : device(open("cpu:0?threads=" + std::to_string(of.threads))),
        queue(device),
        image(device.upload<T>(pixels)),
        output(device.allocate<T>(kPixels)),
        kernel(device.kernel(problem, {.variant = of.variant})) {}

  void run() {
    queue.run(kernel, {.image = image, .output = output});
    queue.finish();
  }
  std::vector<float> result() {
    std::vector<T> pixels(kPixels);
    queue.download(output, pixels);
    queue.finish();
    return {pixels.begin(), pixels.end()};
  }

  Device device;
  Queue queue;
  Buffer<T> image;
  Buffer<T> output;
  OperatorKernel<Conv2d> kernel;
};

template <class T>
Contender contender_of(const std::vector<T>& pixels, int size, const std::string& variant, int threads) {
  Contender contender;
  PeerRecord& record = contender.record;
  record.size = size;
  record.variant = variant;
  record.type = std::is_same_v<T, float> ? DataType::float32 : DataType::int32;
  record.threads = threads;
  const Conv2d problem{.height = kEdge,
                       .width = kEdge,
                       .filter_height = size,
                       .filter_width = size,
                       .filter = filter_of(size),
                       .type = record.type};
  const auto library = std::make_shared<Library<T>>(pixels, problem, record);
  contender.run = [library] { library->run(); };
  contender.result = [library] { return library->result(); };
  return contender;
}

Contender opencv(const Images& images, int size) {
  const auto image = std::make_shared<cv::Mat>(kEdge, kEdge, CV_32F);
  std::copy(images.floats.begin(), images.floats.end(), image->ptr<float>());
  const auto output = std::make_shared<cv::Mat>(kEdge, kEdge, CV_32F);
  cv::Mat filter(size, size, CV_32F);
  const std::vector<double> weights = filter_of(size);
  std::copy(weights.begin(), weights.end(), filter.ptr<float>());
  Contender contender;
  contender.run = [=] { cv::filter2D(*image, *output, CV_32F, filter, cv::Point(-1, -1), 0, cv::BORDER_CONSTANT); };
  contender.result = [=] { return std::vector<float>(output->ptr<float>(), output->ptr<float>() + kPixels); };
  return contender;
}

void verify(std::vector<Contender>& contenders) {
  for (Contender& contender : contenders) contender.run();
  const std::vector<float> expected = contenders.front().result();
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    const std::vector<float> found = contenders[i].result();
    const auto [here, there] = std::mismatch(expected.begin(), expected.end(), found.begin());
    if (here == expected.end()) continue;
    const PeerRecord& record = contenders[i].record;
    throw Error(
        ErrorCode::internal,
        fmt::format("pixel {} of {} in {} with a filter of {} x {} is {}, but {} by OpenCV", here - expected.begin(),
                    record.variant, to_string(record.type), record.size, record.size, *there, *here));
  }
}

void run_rounds(std::vector<Contender>& contenders, double seconds) {
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto start = Clock::now();
  for (std::size_t round = 0;
       round < kFewestRounds || std::chrono::duration<double>(Clock::now() - start).count() < seconds; ++round) {
    std::rotate(order.begin(), order.begin() + 1, order.end());
    for (const std::size_t place : order) {
      tool::stop_if_interrupted();
      const auto before = Clock::now();
      contenders[place].run();
      contenders[place].times_s.push_back(std::chrono::duration<double>(Clock::now() - before).count());
    }
  }
}

/// The median of the rounds' ratios, so that it holds on a machine whose speed drifts.
double ratio_of(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(over[i] / under[i]);
  return tool::summarise(ratios).median;
}

}  // namespace

bool PeerRecord::kept() const {
  const bool is_fast = !at_least || ratio >= *at_least;
  const bool gains = !speed_up || *speed_up >= std::min(kSecondThreadAtLeast, kShareOfMemory * *memory_allows);
  return is_fast && gains && (!over_marching || *over_marching > 1);
}

tool::Json to_json(const PeerRecord& record) {
  tool::Json json;
  json["check"] = "conv2d_beside_opencv";
  json["size"] = record.size;
  json["variant"] = record.variant;
  json["type"] = to_string(record.type);
  json["threads"] = record.threads;
  json["pixels"] = record.pixels;
  json["ours_s"] = tool::to_json(record.ours_s);
  json["opencv_s"] = tool::to_json(record.opencv_s);
  json["ratio"] = record.ratio;
  const auto optional = [&](const char* name, const std::optional<double>& value) {
    json[name] = value ? tool::Json(*value) : tool::Json();
  };
  optional("at_least", record.at_least);
  optional("speed_up", record.speed_up);
  optional("memory_allows", record.memory_allows);
  optional("over_marching", record.over_marching);
  json["status"] = record.kept() ? "kept" : "missed";
  return json;
}

PeerResult measure_beside_opencv(double seconds) {
  cv::setNumThreads(1);
  PeerResult result;
  for (int threads = 1; threads <= 2; ++threads) result.triad_bytes_per_s[threads - 1] = triad_bytes_per_s(threads);
  const Images images;
  for (const int size : {3, 5, 7}) {
    std::vector<Contender> contenders;
    contenders.push_back(opencv(images, size));
    for (const char* const variant : {"marching", "separable"}) {
      for (const int threads : {1, 2}) {
        contenders.push_back(contender_of(images.integers, size, variant, threads));
        contenders.push_back(contender_of(images.floats, size, variant, threads));
      }
    }
    verify(contenders);
    contenders.push_back(contender_of(images.any, size, "marching", 1));
    contenders.back().record.pixels = "any";
    contenders.back().run();
    run_rounds(contenders, seconds);
    const Contender& peer = contenders.front();
    const auto find = [&](const std::string& variant, DataType type, int threads) -> const Contender& {
      return *std::find_if(contenders.begin() + 1, contenders.end(), [&](const Contender& contender) {
        const PeerRecord& of = contender.record;
        return of.variant == variant && of.type == type && of.threads == threads && of.pixels == "small";
      });
    };
    for (std::size_t i = 1; i < contenders.size(); ++i) {
      PeerRecord record = contenders[i].record;
      const std::vector<double>& times = contenders[i].times_s;
      record.ours_s = tool::summarise(times);
      record.opencv_s = tool::summarise(peer.times_s);
      record.ratio = ratio_of(peer.times_s, times);
      if (record.variant == "marching" && record.type == DataType::int32 && record.threads == 1 &&
          record.pixels == "small") {
        record.at_least = floor_of(size);
      }
      if (record.threads == 2) {
        const std::vector<double>& alone = find(record.variant, record.type, 1).times_s;
        record.speed_up = ratio_of(alone, times);
        record.memory_allows = tool::summarise(alone).median * result.triad_bytes_per_s[1] / kBytes;
      }
      if (record.variant == "separable" && size == 7) {
        record.over_marching = ratio_of(find("marching", record.type, record.threads).times_s, times);
      }
      result.records.push_back(std::move(record));
    }
  }
  return result;
}

}  // namespace tessera::benchmarks
