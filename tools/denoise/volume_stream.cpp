// A stream waits for the device, so it does that on a thread of its own; this one looks for Ctrl-C meanwhile.
#include "tools/denoise/volume_stream.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

#include "tools/denoise/volume_denoiser.h"
#include "tools/process/interrupt.h"

namespace tessera::tool {

/// All that the stream's thread makes use of: it is left to it when nobody waits for it any more.
template <class T>
struct StreamedVolume {
  StreamedVolume(const Device& device, const Denoise& asked, const DenoiseStreamPlan& plan, const KernelOptions& kernel,
                 std::vector<T> voxels)
      : own_device(open(device.id())), problem(asked), volume(std::move(voxels)), result(volume.size()) {
    // What the plan takes cuts as the plan does, whatever is free by now.
    options.kernel = kernel;
    options.memory_bytes = plan.memory_bytes;
    options.progress = [this](const StreamProgress& progress) { done = progress.done; };
    report = std::async(std::launch::async, [this] {
      return stream(own_device, problem, {.volume = volume, .basic = {}, .result = result}, options);
    });
  }
  [[nodiscard]] bool has_ended() const { return report.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

  Device own_device;
  Denoise problem;
  std::vector<T> volume;
  std::vector<T> result;
  StreamOptions options;
  std::atomic<std::int64_t> done = 0;
  std::future<StreamReport> report;  // waits for the thread when it is destroyed, so it goes first
};

template <class T>
std::vector<T> stream_volume(const Device& device, const Denoise& problem, const DenoiseStreamPlan& plan,
                             const KernelOptions& kernel, std::vector<T> volume, DenoiseProgress& progress,
                             std::string& variant) {
  auto run = std::make_unique<StreamedVolume<T>>(device, problem, plan, kernel, std::move(volume));
  std::int64_t before = 0;  // slabs
  for (const DenoisePieces& pieces : plan.passes) {
    const double work = work_of(pieces.whole()) / static_cast<double>(pieces.count());
    for (std::int64_t piece = 0; piece < pieces.count(); ++piece, ++before) {
      const auto is_done = [&] { return run->done > before || run->has_ended(); };
      if (progress.wait(is_done, work, name_of_step(pieces.whole()))) continue;
      static_cast<void>(run.release());
      abandon_device_work();
      throw Interrupted();
    }
  }
  variant = run->report.get().kernel.variant;
  return std::move(run->result);
}

template std::vector<std::uint8_t> stream_volume(const Device&, const Denoise&, const DenoiseStreamPlan&,
                                                 const KernelOptions&, std::vector<std::uint8_t>, DenoiseProgress&,
                                                 std::string&);
template std::vector<std::uint16_t> stream_volume(const Device&, const Denoise&, const DenoiseStreamPlan&,
                                                  const KernelOptions&, std::vector<std::uint16_t>, DenoiseProgress&,
                                                  std::string&);
template std::vector<float> stream_volume(const Device&, const Denoise&, const DenoiseStreamPlan&, const KernelOptions&,
                                          std::vector<float>, DenoiseProgress&, std::string&);

}  // namespace tessera::tool
