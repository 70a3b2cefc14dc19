// A problem of denoise with its volumes in the host's memory: in one piece and streamed, and the bits of both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/ops/denoise_pieces.h>
#include <tessera/tessera.h>

namespace tessera::testing_support {

/// Steps and noise; of floats numbers below 0, some that are not finite, and in one corner a magnitude far above all
/// others, which decides about the units of all.
template <class T>
struct HostDenoise {
  explicit HostDenoise(const Denoise& of) : problem(with_profile(of)) {
    problem.type = data_type_of<T>;
    std::uint64_t state = 7;
    const auto fill = [&](std::vector<T>& voxels) {
      for (std::int64_t i = 0; i < problem.size.product() * problem.channels; ++i) {
        const std::int64_t x = i % problem.size.x, row = i / problem.size.x;
        state = state * 6364136223846793005U + 1442695040888963407U;
        const std::int64_t noise = static_cast<std::int64_t>(state >> 59) - 16;
        voxels.push_back(static_cast<T>(70 + 60 * ((x / 5 + row / 7) % 3) + noise + (i % 41 == 0 ? 17 : 0)));
      }
      if constexpr (std::is_same_v<T, float>) {
        for (T& voxel : voxels) voxel = (voxel - 90) * 1.0625F;
        voxels[voxels.size() / 2] = std::numeric_limits<float>::quiet_NaN();
        voxels[voxels.size() / 5] = -std::numeric_limits<float>::infinity();
        voxels.back() = -40000;
      }
    };
    fill(volume);
    if (problem.stage == DenoiseStage::wiener) fill(basic);
    result.resize(volume.size());
  }

  [[nodiscard]] std::string bits_in_one_piece(const Device& device, const std::string& variant) {
    Queue queue(device);
    const auto kernel = device.kernel(problem, {.variant = variant});
    const auto on_device = device.upload<T>(volume);
    const auto estimate = device.upload<T>(basic);
    const auto denoised = device.allocate<T>(volume.size());
    queue.run(
        kernel,
        {.volume = on_device, .basic = basic.empty() ? ConstOperand() : ConstOperand(estimate), .result = denoised});
    result = queue.download(denoised).get();
    return bits();
  }
  [[nodiscard]] std::string streamed_bits(const Device& device, const StreamOptions& options, StreamReport& report) {
    std::fill(result.begin(), result.end(), T{77});
    report = stream(device, problem, operands(), options);
    return bits();
  }
  [[nodiscard]] Denoise::HostOperands operands() {
    return {.volume = volume, .basic = basic.empty() ? ConstHostOperand() : ConstHostOperand(basic), .result = result};
  }

  Denoise problem;
  std::vector<T> volume;
  std::vector<T> basic;  ///< of the stage wiener alone
  std::vector<T> result;

 private:
  [[nodiscard]] std::string bits() const {
    return {reinterpret_cast<const char*>(result.data()), result.size() * sizeof(T)};
  }
};

}  // namespace tessera::testing_support
