// What the backend makes of cards of other compute capabilities, as the fake card says that it is one: which variants
// they are refused, which are a default there, and that nothing of newer cards is asked of them.
#include <gtest/gtest.h>

#include <tessera/ops/cnn_layer.h>
#include <tessera/ops/gemm.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fault/cuda/plugin.h"

namespace tessera::fault {
namespace {

Gemm gemm_of(std::int64_t size, Accuracy accuracy = Accuracy::accurate) {
  return with_layout({.m = size, .n = size, .k = size, .accuracy = accuracy});
}

/// What Winograd's algorithm does not take.
CnnLayer strided_layer(std::int64_t channels, std::int64_t outputs, std::int64_t size) {
  return {.batch = 3,
          .input_channels = channels,
          .output_channels = outputs,
          .height = size,
          .width = size,
          .filter_height = 3,
          .filter_width = 3,
          .stride = 2};
}

/// The plug-in is opened for each card anew.
class CudaCapabilityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (fake_card() == nullptr) GTEST_SKIP() << "the driver is a real one, which cannot be told which card it has";
    misuses_before_ = fake_card()->misuses();
  }
  void TearDown() override {
    if (fake_card() == nullptr) return;
    device_.reset();
    fake_card()->set_compute_capability(9, 0);
    EXPECT_EQ(fake_card()->misuses(), misuses_before_);
  }

  void open(int major, int minor) {
    device_.reset();
    fake_card()->set_compute_capability(major, minor);
    device_ = plugin_backend().open(0, {});
  }
  template <class Problem>
  static const backend::Variant<Problem>& variant(std::string_view name) {
    const auto& list = plugin_backend().operators().list<Problem>();
    return *std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
  }
  template <class Problem>
  [[nodiscard]] std::string refusal(std::string_view name, const Problem& problem) const {
    return variant<Problem>(name).check(problem, *device_).because();
  }
  template <class Problem>
  [[nodiscard]] std::string why_no_default(std::string_view name, const Problem& problem) const {
    return variant<Problem>(name).pays(problem, *device_).because();
  }

  /// The first of the operator's variants that takes the problem and pays.
  template <class Problem>
  [[nodiscard]] std::string_view first_that_pays(const Problem& problem) const {
    for (const auto& each : plugin_backend().operators().list<Problem>()) {
      if (each.check(problem, *device_) && (!each.pays || each.pays(problem, *device_))) return each.name;
    }
    return "none";
  }
  [[nodiscard]] std::string_view default_of(const Gemm& problem) const { return first_that_pays(with_layout(problem)); }

  std::unique_ptr<backend::Device> device_;

 private:
  long misuses_before_ = 0;
};

TEST_F(CudaCapabilityTest, float64_tiles_are_those_that_shared_memory_holds) {
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Gemm problem = gemm_of(2048);
  problem.type = DataType::float64;
  const auto tiles = [&](int major, int minor) -> Pairs {
    open(major, minor);
    for (const Tunable& tunable : variant<Gemm>("register").tunables(problem, *device_)) {
      if (tunable.name == "tile_n") return tunable.pairs;
    }
    return {};
  };
  const Pairs small{{32, 32}, {32, 128}, {128, 32}, {64, 32}, {64, 64}};
  Pairs all = small;
  all.insert(all.end(), {{128, 64}, {128, 128}});
  EXPECT_EQ(tiles(8, 6), small);
  EXPECT_EQ(tiles(8, 0), all);
  EXPECT_EQ(tiles(9, 0), all);
}

constexpr std::array<std::pair<std::string_view, Accuracy>, 2> kByWarps{
    {{"split_mma", Accuracy::accurate}, {"scaled_half_mma", Accuracy::fast}}};

TEST_F(CudaCapabilityTest, gemm_by_fp16_is_refused_before_sm_80_with_the_capability) {
  open(7, 5);
  for (const auto& [name, accuracy] : kByWarps) {
    EXPECT_EQ(refusal(name, gemm_of(64, accuracy)),
              "the compute capability of the device is 7.5, but must be at least 8.0");
  }
  open(8, 6);
  EXPECT_NE(refusal("split", gemm_of(64)), "");
}

TEST_F(CudaCapabilityTest, gemm_by_fp16_of_warps_is_a_default_on_8_0_alone) {
  for (const auto& [name, accuracy] : kByWarps) {
    open(8, 0);
    EXPECT_EQ(why_no_default(name, gemm_of(4096, accuracy)), "");
    EXPECT_NE(why_no_default(name, gemm_of(48, accuracy)), "");
    for (const auto& [major, minor] : {std::pair{8, 6}, {8, 9}, {9, 0}, {10, 0}, {12, 0}}) {
      open(major, minor);
      EXPECT_NE(why_no_default(name, gemm_of(4096, accuracy)), "") << major << "." << minor;
    }
  }
}

/// By the models of their times, for a card of 132 multiprocessors.
TEST_F(CudaCapabilityTest, gemm_takes_what_is_expected_to_be_fastest) {
  for (const auto& [major, minor] : {std::pair{7, 5}, {8, 0}, {8, 6}, {9, 0}, {10, 0}}) {
    open(major, minor);
    const std::string card = std::to_string(major) + "." + std::to_string(minor);
    // On 8.0 it is split_mma, and on 9.0 split, if the library has code for that.
    if (major != 8 || minor != 0) {
      const bool has_split = refusal("split", gemm_of(4096)).empty();
      EXPECT_TRUE(!has_split || major == 9) << card;
      EXPECT_EQ(default_of({.m = 4096, .n = 4096, .k = 4096}), has_split ? "split" : "register") << card;
    }
    EXPECT_EQ(default_of({.m = 4096, .n = 4096, .k = 4096, .accuracy = Accuracy::strict}), "register") << card;
    EXPECT_EQ(default_of({.m = 4096, .n = 4096, .k = 4096, .type = DataType::float64}), "register") << card;
    for (const DataType type : {DataType::float32, DataType::float64}) {
      EXPECT_EQ(default_of({.m = 2621, .n = 1799, .k = 3, .type = type}), "shallow") << card;
      EXPECT_EQ(default_of({.m = 1, .n = 4096, .k = 4096, .type = type}), "thin") << card;
      EXPECT_EQ(default_of({.m = 64, .n = 64, .k = 32768, .type = type}), "register") << card;
    }
  }
}

TEST_F(CudaCapabilityTest, gemm_that_does_not_pay_names_what_is_faster) {
  open(9, 0);
  const Gemm shallow = with_layout({.m = 2621, .n = 1799, .k = 3});
  EXPECT_NE(why_no_default("split", shallow).find(", and shallow "), std::string::npos)
      << why_no_default("split", shallow);
}

/// The fake card takes a launch of a cluster, or of a kernel that begins early, for a misuse before 9.0.
TEST_F(CudaCapabilityTest, gemm_by_fp16_of_warps_launches_what_every_card_knows) {
  const auto problem = with_layout({.m = 70, .n = 130, .k = 5000});
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 9}, {9, 0}}) {
    open(major, minor);
    const auto operands = device_->allocate(std::size_t{130} * 5000 * sizeof(float));
    const backend::Slice slice{operands.get(), 0, std::size_t{130} * 5000 * sizeof(float)};
    const std::vector<backend::Slice> slices(3, slice);
    for (const auto& [name, accuracy] : kByWarps) {
      for (const std::int64_t tile : {64, 128}) {
        const auto kernel = variant<Gemm>(name).make(problem, *device_, {{"tile_m", tile}, {"tile_n", tile}});
        const auto workspace = device_->allocate(kernel->workspace_bytes());
        const auto queue = device_->make_queue();
        kernel->launch(*queue, slices, {workspace.get(), 0, kernel->workspace_bytes()});
        queue->finish();
      }
    }
  }
}

/// implicit_gemm multiplies for 32 output channels at least, the warp groups of winograd_split for 128.
TEST_F(CudaCapabilityTest, layers_with_few_outputs_take_winograd_where_there_is_much_to_save) {
  for (const auto& [major, minor] : {std::pair{8, 6}, {9, 0}}) {
    open(major, minor);
    const auto default_of_layer = [&](std::int64_t channels, std::int64_t outputs, std::int64_t filter) {
      return first_that_pays(CnnLayer{.input_channels = channels,
                                      .output_channels = outputs,
                                      .height = 112,
                                      .width = 112,
                                      .filter_height = filter,
                                      .filter_width = filter});
    };
    for (const std::int64_t outputs : {4, 8, 16}) {
      for (const std::int64_t filter : {3, 5}) {
        EXPECT_EQ(default_of_layer(128, outputs, filter), "winograd") << outputs << " " << filter;
        EXPECT_EQ(default_of_layer(32, outputs, filter), "implicit_gemm") << outputs << " " << filter;
      }
    }
  }
  open(9, 0);
  const CnnLayer wide{.input_channels = 128,
                      .output_channels = 256,
                      .height = 112,
                      .width = 112,
                      .filter_height = 3,
                      .filter_width = 3};
  EXPECT_EQ(first_that_pays(wide), refusal("winograd_split", wide).empty() ? "winograd_split" : "winograd");
}

/// For 132 multiprocessors. Up to 256 channels memory is what bounds large layers, and the tile of 72 columns spares
/// half of what products move. With more, 2128 tiles of 4 x 6 are 9 columns of two blocks of 120, and 784 of 4 x 4 are
/// 7 blocks of 112; with as few channels as only take tiles of 4 x 4, 1024 are 4 columns of two of 128.
TEST_F(CudaCapabilityTest, products_of_winograd_take_the_columns_that_leave_less_without_work) {
  open(9, 0);
  const auto preferred_of_layer = [&](std::int64_t channels, std::int64_t height, std::int64_t width) {
    const CnnLayer layer{.input_channels = channels,
                         .output_channels = 256,
                         .height = height,
                         .width = width,
                         .filter_height = 5,
                         .filter_width = 5};
    Tuning preferred;
    for (const Tunable& tunable : variant<CnnLayer>("winograd_split").tunables(layer, *device_)) {
      preferred[tunable.name] = tunable.preferred;
    }
    return preferred;
  };
  const auto tiles_of_layer = [&](std::int64_t channels, std::int64_t size) {
    const Tuning tuning = preferred_of_layer(channels, size, size);
    return std::array{tuning.at("tile"), tuning.at("tile_columns"), tuning.at("tile_n")};
  };
  EXPECT_EQ(tiles_of_layer(256, 228), (std::array<std::int64_t, 3>{4, 6, 72}));
  EXPECT_EQ(tiles_of_layer(384, 228), (std::array<std::int64_t, 3>{4, 6, 120}));
  EXPECT_EQ(tiles_of_layer(384, 116), (std::array<std::int64_t, 3>{4, 4, 112}));
  EXPECT_EQ(preferred_of_layer(256, 228, 228).at("chunk"), 4096);
  // 1764 tiles of 4 x 4 are too few for longer ones.
  EXPECT_EQ(preferred_of_layer(256, 172, 172).at("tile_columns"), 4);
  EXPECT_EQ(tiles_of_layer(192, 228), (std::array<std::int64_t, 3>{4, 4, 72}));
  EXPECT_EQ(tiles_of_layer(192, 132), (std::array<std::int64_t, 3>{4, 4, 128}));
  // 8 columns of outputs are two tiles of four or of six, however many rows there are; 12 are three or two.
  EXPECT_EQ(preferred_of_layer(256, 10004, 12).at("tile_columns"), 4);
  EXPECT_EQ(preferred_of_layer(256, 10004, 16).at("tile_columns"), 6);
}

TEST_F(CudaCapabilityTest, winograd_by_fp16_is_no_default_for_few_channels_or_tiles) {
  open(9, 0);
  const auto says = [&](std::string_view words, std::int64_t inputs, std::int64_t outputs, std::int64_t size,
                        std::int64_t batch) {
    CnnLayer layer = strided_layer(inputs, outputs, size);
    layer.batch = batch;
    layer.stride = 1;
    layer.padding = 1;
    const std::string reason = why_no_default("winograd_split", layer);
    return words.empty() ? reason.empty() : reason.find(words) != std::string::npos;
  };
  EXPECT_TRUE(says("32 input_channels", 32, 64, 112, 4));
  EXPECT_TRUE(says("32 output_channels", 64, 32, 112, 4));
  EXPECT_TRUE(says("32 tiles", 256, 384, 13, 2));
  EXPECT_TRUE(says("", 256, 384, 13, 3));
  EXPECT_TRUE(says("", 512, 512, 14, 1));
}

TEST_F(CudaCapabilityTest, layers_by_fp16_of_warps_are_a_default_on_8_0_and_9_0_alone) {
  constexpr std::string_view kName = "implicit_gemm_split";
  open(7, 5);
  EXPECT_EQ(refusal(kName, strided_layer(64, 70, 20)),
            "the compute capability of the device is 7.5, but must be at least 8.0");
  for (const auto& [major, minor] : {std::pair{8, 0}, {9, 0}, {8, 6}, {8, 9}, {10, 0}, {12, 0}}) {
    open(major, minor);
    EXPECT_EQ(why_no_default(kName, strided_layer(256, 512, 100)).empty(), minor == 0 && major < 10)
        << major << "." << minor;
    EXPECT_NE(why_no_default(kName, strided_layer(3, 70, 20)), "") << major << "." << minor;
  }
}

TEST_F(CudaCapabilityTest, layers_by_fp16_of_warps_launch_what_every_card_knows) {
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 9}, {9, 0}}) {
    open(major, minor);
    const auto memory = device_->allocate(std::size_t{1} << 20);
    const backend::Slice slice{memory.get(), 0, std::size_t{1} << 20};
    for (const std::int64_t tile : {64, 128}) {
      for (const std::int64_t pool : {1, 2, 3}) {
        CnnLayer problem = strided_layer(20, 70, 20);
        problem.pool_size = problem.pool_stride = pool;
        const auto kernel =
            variant<CnnLayer>("implicit_gemm_split").make(problem, *device_, {{"tile_m", tile}, {"tile_n", tile}});
        const std::size_t workspace_bytes = kernel->workspace_bytes(), prepared_bytes = kernel->prepared_bytes();
        const auto workspace = device_->allocate(workspace_bytes);
        const auto prepared = device_->allocate(prepared_bytes);
        const auto queue = device_->make_queue();
        const backend::Slice weights{prepared.get(), 0, prepared_bytes};
        kernel->prepare(*queue, slice, weights, {});
        const std::vector<backend::Slice> operands{slice, weights, slice, slice};
        kernel->launch(*queue, operands, {workspace.get(), 0, workspace_bytes});
        queue->finish();
      }
    }
  }
}

}  // namespace
}  // namespace tessera::fault
