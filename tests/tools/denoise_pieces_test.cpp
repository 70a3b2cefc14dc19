// Volumes that pass the device in pieces get the bits of one piece: of every type, along every axis, in colour, with
// numbers that are not finite, and whatever the memory.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <tessera/tessera.h>

#include "tools/denoise/volume_denoiser.h"
#include "tools/random/integer_random.h"

namespace tessera::tool {
namespace {

class DenoisePiecesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const DeviceInfo& info : devices()) {
      if (info.id == "cpu:0") return;
    }
    GTEST_SKIP() << "cpu:0 is not here";
  }

  /// Steps and noise, and of floats an outlier at the far end, and numbers that are not finite.
  template <class T>
  static std::vector<T> voxels_of(const auto& problem) {
    std::vector<T> voxels;
    for (std::int64_t i = 0; i < problem.size.product() * problem.channels; ++i) {
      IntegerRandom random(3, 0, static_cast<std::uint64_t>(i));
      const std::int64_t x = i % problem.size.x, y = i / problem.size.x;
      const auto shown = static_cast<double>(60 + 70 * ((x / 7 + y / 9) % 3) + i / 3000);
      voxels.push_back(static_cast<T>(shown + static_cast<double>(random.normal(16 * 10)) / 16));
    }
    if constexpr (std::is_floating_point_v<T>) {
      voxels[voxels.size() / 2] = std::numeric_limits<T>::quiet_NaN();
      voxels[voxels.size() / 5] = -std::numeric_limits<T>::infinity();
      voxels.back() = T{-9000};
    }
    return voxels;
  }

  static Denoise filled(const PerAxis& size, std::int64_t channels, DataType type) {
    Denoise problem;
    problem.size = size;
    problem.channels = channels;
    problem.sigma = 10;
    problem.range = 255;
    problem.type = type;
    problem = with_profile(problem);
    fit_patches(problem);
    return problem;
  }

  /// By the operator, of denoise both steps at once.
  template <class T, class Problem>
  static std::vector<T> whole(const Device& device, const Problem& problem, const std::vector<T>& voxels) {
    Queue queue(device);
    const auto kernel = device.kernel(problem);
    const auto volume = device.upload<T>(voxels);
    const auto result = device.allocate<T>(voxels.size());
    typename Problem::Operands operands;
    operands.volume = volume;
    operands.result = result;
    queue.run(kernel, operands);
    return queue.download(result).get();
  }

  template <class T>
  static void expect_the_same(const std::vector<T>& one, const std::vector<T>& other) {
    ASSERT_EQ(one.size(), other.size());
    std::size_t differing = 0;
    for (std::size_t i = 0; i < one.size(); ++i) differing += std::memcmp(&one[i], &other[i], sizeof(T)) != 0 ? 1 : 0;
    EXPECT_EQ(differing, 0U);
  }

  template <class T>
  static void expect_whole_in_pieces(const PerAxis& size, std::int64_t channels, std::int64_t most_planes) {
    SCOPED_TRACE(testing::Message() << to_string(data_type_of<T>) << " " << size.x << " x " << size.y << " x " << size.z
                                    << ", " << channels << " channels, " << most_planes << " planes");
    expect_whole_in_pieces<T>(filled(size, channels, data_type_of<T>), most_planes);
  }
  template <class T, class Problem>
  static void expect_whole_in_pieces(const Problem& problem, std::int64_t most_planes) {
    const Device device = open("cpu:0");
    const std::vector<T> voxels = voxels_of<T>(problem);
    DenoiseProgress progress(work_of(problem));
    VolumeDenoiser<T> denoiser(device, {.most_planes = most_planes}, progress);
    expect_the_same(denoiser.run(problem, voxels), whole(device, problem, voxels));
    EXPECT_NE(denoiser.variant(), "");
  }
};

TEST_F(DenoisePiecesTest, volumes_along_every_axis_have_the_bits_of_the_whole) {
  for (const PerAxis& size : {PerAxis{9, 10, 71}, PerAxis{10, 71, 9}, PerAxis{71, 9, 10}}) {
    for (const std::int64_t planes : {1, 16}) {
      expect_whole_in_pieces<std::uint8_t>(size, 1, planes);
      expect_whole_in_pieces<std::uint16_t>(size, 1, planes);
      expect_whole_in_pieces<float>(size, 1, planes);
    }
  }
}

TEST_F(DenoisePiecesTest, images_and_colours_have_the_bits_of_the_whole) {
  for (const PerAxis& size : {PerAxis{30, 170, 1}, PerAxis{170, 31, 1}}) {
    for (const std::int64_t channels : {1, 3}) {
      expect_whole_in_pieces<std::uint8_t>(size, channels, 1);
      expect_whole_in_pieces<float>(size, channels, 23);
    }
  }
  expect_whole_in_pieces<float>({8, 9, 60}, 3, 13);
}

TEST_F(DenoisePiecesTest, all_of_a_volume_in_one_piece_is_the_whole_too) {
  expect_whole_in_pieces<float>({20, 21, 22}, 1, 0);
  expect_whole_in_pieces<std::uint8_t>({33, 30, 1}, 3, 0);
}

TEST_F(DenoisePiecesTest, sizes_smaller_than_a_patch_are_denoised) {
  for (const PerAxis& size :
       {PerAxis{1, 1, 1}, PerAxis{3, 2, 1}, PerAxis{1, 50, 1}, PerAxis{5, 1, 3}, PerAxis{2, 3, 40}, PerAxis{7, 6, 5}}) {
    expect_whole_in_pieces<std::uint8_t>(size, 1, 1);
    expect_whole_in_pieces<float>(size, 3, 0);
  }
}

TEST_F(DenoisePiecesTest, non_local_means_have_the_bits_of_the_whole_too) {
  for (const PerAxis& size : {PerAxis{9, 10, 71}, PerAxis{10, 71, 9}, PerAxis{71, 9, 10}, PerAxis{40, 90, 1},
                              PerAxis{2, 3, 40}, PerAxis{1, 1, 1}}) {
    for (const std::int64_t planes : {1, 16}) {
      for (const std::int64_t channels : {1, 3}) {
        SCOPED_TRACE(testing::Message() << size.x << " x " << size.y << " x " << size.z << ", " << planes << " planes");
        NonlocalMeans problem{.size = size, .channels = channels, .sigma = 10};
        problem = with_usual_parameters(problem);
        expect_whole_in_pieces<float>(problem, planes);
        problem.patch = {2, 6, size.z > 1 ? 12 : 1};  // of thin volumes mirrored twice
        problem.window = {5, 4, 6};
        expect_whole_in_pieces<float>(problem, planes);
        problem.type = DataType::uint8;
        expect_whole_in_pieces<std::uint8_t>(problem, planes);
      }
    }
  }
}

TEST_F(DenoisePiecesTest, what_passes_the_memory_is_streamed) {
  const Device device = open("cpu:0");
  const Denoise problem = filled({20, 20, 200}, 1, DataType::float32);
  const std::vector<float> voxels = voxels_of<float>(problem);
  const std::vector<float> expected = whole(device, problem, voxels);
  StreamOptions options;
  options.memory_bytes = plan_stream(device, problem).memory_bytes * 3;
  ASSERT_EQ(plan_stream(device, problem, options).passes.size(), 1U) << "it fits";
  DenoiseProgress progress(work_of(problem));
  VolumeDenoiser<float> roomy(device, {.memory_bytes = options.memory_bytes}, progress);
  expect_the_same(roomy.run(problem, voxels), expected);
  // As much as the smallest pieces take, and half as much.
  std::uint64_t refused = 1;
  while (options.memory_bytes - refused > 1) {
    const std::uint64_t middle = refused + (options.memory_bytes - refused) / 2;
    try {
      static_cast<void>(plan_stream(device, problem, {.memory_bytes = middle}));
      options.memory_bytes = middle;
    } catch (const Error&) {
      refused = middle;
    }
  }
  EXPECT_EQ(plan_stream(device, problem, options).passes.size(), 2U);
  VolumeDenoiser<float> streamed(device, {.memory_bytes = options.memory_bytes}, progress);
  expect_the_same(streamed.run(problem, voxels), expected);
  EXPECT_EQ(streamed.variant(), roomy.variant());
  VolumeDenoiser<float> cramped(device, {.memory_bytes = options.memory_bytes / 2}, progress);
  try {
    (void)cramped.run(problem, voxels);
    ADD_FAILURE() << "runs within half of what the smallest pieces take";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.sentence().find("at a time needs " + std::to_string(options.memory_bytes)), std::string::npos)
        << error.sentence();
  }
}

}  // namespace
}  // namespace tessera::tool
