// patch_match, packed_key: one thread a reference, keys in registers. See patch_match_packed_key.cu, and for bytes
// patch_match_packed_key_words.cu, whose words and norms lie in the workspace:
//
//   | words of the volume | sums of planes | norms |
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;

std::size_t to_lines(std::size_t bytes) noexcept {
  return mathematics::round_up<std::size_t>(bytes, 256);
}

/// Are distances made from norms and products of bytes?
bool has_words(const PatchMatch& problem) {
  return problem.type == DataType::uint8 && patch_types(problem) == "uint8";
}

/// "4_16": the patch for which the loops are made, else 0, and places.
std::string shape_of_keys(const PatchMatch& problem) {
  const bool is_usual = problem.patch == PerAxis{4, 4, 4} && patch_types(problem) != "uint8_wide";
  const std::int64_t places = problem.max_patches <= 4 ? 4 : problem.max_patches <= 16 ? 16 : 64;
  return sentence(is_usual ? 4 : 0, "_", places);
}

/// 32 or 64: of a key whose highest bit is 0.
int key_bits(const PatchMatch& problem) {
  const std::int64_t largest =
      std::min(mathematics::largest_patch_distance(problem), mathematics::largest_kept_distance<std::int64_t>(problem));
  const int distance = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(largest, 0))));
  return distance + mathematics::patch_key_bits(problem).number < 32 ? 32 : 64;
}

class WordsKernel final : public backend::Kernel {
 public:
  WordsKernel(const std::shared_ptr<Context>& context, const PatchMatch& problem) {
    PatchArguments& match = arguments_.match;
    match = patch_arguments(problem);
    arguments_.row_words = mathematics::ceil_div<std::int64_t>(match.size[0], 4);
    const std::int64_t words = arguments_.row_words * match.size[1] * match.size[2] + kPatchWordsBehind;
    const std::int64_t plane = match.places[0] * match.places[1];
    const std::int64_t norms = plane * match.places[2] + kPatchLanes;
    const auto bytes_of = [](std::int64_t count) {
      return to_lines(static_cast<std::size_t>(count) * sizeof(std::uint32_t));
    };
    sums_at_ = bytes_of(words);
    norms_at_ = sums_at_ + bytes_of(plane * match.size[2]);
    workspace_bytes_ = norms_at_ + bytes_of(norms);
    const auto add = [&](const std::string& name, std::int64_t threads) {
      launches_.emplace_back(context, embedded::patch_match_packed_key_words, "tessera_patch_match_" + name,
                             patch_line(threads));
    };
    add("words", words);
    add("plane_sums", plane * match.size[2]);
    add("norms", norms);
    add(sentence("packed_key_words_", key_bits(problem), "_", shape_of_keys(problem)), problem.references().product());
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_bytes_; }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    PatchWordArguments arguments = arguments_;
    arguments.match = with_operands(arguments_.match, operands);
    arguments.words = pointer_to<std::uint32_t>(workspace);
    arguments.plane_sums = pointer_at<std::uint32_t>(workspace, sums_at_);
    arguments.norms = pointer_at<std::uint32_t>(workspace, norms_at_);
    for (const CudaFunction& function : launches_) function.enqueue(queue, arguments);
  }

 private:
  PatchWordArguments arguments_{};
  std::size_t sums_at_ = 0;
  std::size_t norms_at_ = 0;
  std::size_t workspace_bytes_ = 0;
  std::vector<CudaFunction> launches_;
};

backend::Verdict check(const PatchMatch& problem, const backend::Device& device) {
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty()) {
    return backend::Verdict::no(std::move(reason));
  }
  if (!has_words(problem)) return check_thread_of_reference(problem, device);
  // The launches over voxels have more threads than the one over references.
  const std::int64_t voxels = problem.held().product() + kPatchThreads;
  return check_patch_groups(mathematics::ceil_div<std::int64_t>(voxels, kPatchThreads), device);
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning&) {
  const std::shared_ptr<Context>& context = native(device).context();
  if (has_words(problem)) return std::make_unique<WordsKernel>(context, problem);
  return std::make_unique<PatchKernel>(
      context, problem, embedded::patch_match_packed_key,
      sentence("tessera_patch_match_packed_key_", patch_types(problem), "_", shape_of_keys(problem)),
      patch_line(problem.references().product()));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_packed_key() {
  return {
      .name = "packed_key",
      .summary = "one thread a reference, neighbouring candidates at a time (bytes by dp4a), sorted keys in registers",
      .check = check,
      .tunables = nullptr,
      .make = make};
}

}  // namespace tessera::cuda
