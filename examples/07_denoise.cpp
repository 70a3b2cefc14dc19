// Removes the noise from an image whose clean pixels are known, on the device named by the first argument or on the
// best one present, and tells by how much it came nearer to them: by both steps at once, and by each of them apart.
#include <tessera/ops/denoise_sigma.h>
#include <tessera/tessera.h>

#include <cmath>
#include <iostream>
#include <random>
#include <vector>

/// How far two images are apart: the root of the mean square of their differences.
static double distance(const std::vector<float>& one, const std::vector<float>& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += std::pow(one[i] - other[i], 2);
  return std::sqrt(sum / static_cast<double>(one.size()));
}

int main(int argc, char** argv) try {
  // Rings of three greys, and noise with a standard deviation of 20 on them.
  const std::int64_t width = 160, height = 120;
  std::vector<float> clean, noisy;
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, 20);
  for (std::int64_t i = 0; i < width * height; ++i) {
    const double x = static_cast<double>(i % width) - 80, y = static_cast<double>(i / width) - 60;
    clean.push_back(60.0F + 60.0F * static_cast<float>(static_cast<int>(std::hypot(x, y) / 14) % 3));
    noisy.push_back(clean.back() + noise(random));
  }
  const tessera::PerAxis size{width, height, 1};  // an image; a volume has a z above 1
  const double sigma = tessera::estimate_sigma(noisy, size);

  tessera::Device device = tessera::open(argc > 1 ? argv[1] : "");
  const tessera::Denoise problem{.size = size, .sigma = sigma, .range = 255};
  bool is_offered = false;
  for (const tessera::VariantReport& report : tessera::explain(problem, device)) is_offered |= report.can_run;
  if (!is_offered) {
    std::cout << device.id() << " has no variant of denoise\n";
    return 0;
  }

  tessera::Queue queue(device);
  auto kernel = device.kernel(problem);
  auto volume = device.upload<float>(noisy);
  auto result = device.allocate<float>(noisy.size());
  queue.run(kernel, {.volume = volume, .basic = {}, .result = result});
  const std::vector<float> denoised = queue.download(result).get();

  // Apart: what the first step makes is there to be looked at, or to be changed, before it guides the second.
  tessera::Denoise first_step = problem, second_step = problem;
  first_step.stage = tessera::DenoiseStage::hard_threshold;
  second_step.stage = tessera::DenoiseStage::wiener;
  auto basic = device.allocate<float>(noisy.size());
  queue.run(device.kernel(first_step), {.volume = volume, .basic = {}, .result = basic});
  queue.run(device.kernel(second_step), {.volume = volume, .basic = basic, .result = result});
  const std::vector<float> basic_estimate = queue.download(basic).get();
  const bool is_same = queue.download(result).get() == denoised;

  const double before = distance(clean, noisy), between = distance(clean, basic_estimate);
  const double after = distance(clean, denoised);
  const bool right = std::abs(sigma - 20) < 3 && after < before / 2.5 && is_same;
  std::cout << device.id() << " (" << kernel.info().variant << "): the noise is estimated as " << sigma << "; from "
            << before << " grey levels away to " << between << " by the first step and " << after << " by both"
            << (is_same ? "" : ", which apart give something else") << (right ? "" : ": wrong") << '\n';
  return right ? 0 : 1;
} catch (const tessera::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
