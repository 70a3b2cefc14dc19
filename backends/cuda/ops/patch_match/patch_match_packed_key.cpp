// patch_match, packed_key: one thread a reference, keys in registers. See patch_match_packed_key.h.
#include "ops/patch_match/patch_match_packed_key.h"

#include <string>
#include <utility>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "mathematics/patch_match_thread_choice.h"
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

class PackedKeyKernel final : public backend::Kernel {
 public:
  PackedKeyKernel(const std::shared_ptr<Context>& context, const PatchMatch& problem,
                  std::optional<std::int64_t> tile_y)
      : match_(context, problem, tile_y) {}

  [[nodiscard]] std::size_t workspace_bytes() const override { return match_.workspace_bytes(); }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    const PatchArguments arguments = with_operands(match_.arguments(), operands);
    match_.prepare(queue, arguments, workspace);
    match_.run(queue, arguments, workspace);
  }

 private:
  PackedKeyMatch match_;
};

backend::Verdict pays(const PatchMatch& problem, const backend::Device& device) {
  const double enough = has_words(problem) ? mathematics::kPatchThreadBytes : mathematics::patch_thread_others(problem);
  const auto least =
      static_cast<std::int64_t>(enough * static_cast<double>(native(device).context()->limits().multiprocessors));
  const std::int64_t references = problem.references().product();
  if (references >= least) return backend::Verdict::yes();
  return backend::Verdict::no(sentence("patch_match has ", references, " references, but a thread for each gains from ",
                                       least, " on, on this card"));
}

std::vector<Tunable> tunables(const PatchMatch& problem, const backend::Device& device) {
  const std::vector<std::int64_t> lines = screen_lines(problem, native(device).context()->limits());
  if (lines.empty()) return {};
  return {{.name = "tile_y",
           .meaning = "lines of references of a group's tile, whose candidates are screened; 0: they are not",
           .values = lines,
           .preferred = best_screen_lines(problem, native(device).context()->limits())}};
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning& tuning) {
  std::optional<std::int64_t> tile_y;
  if (const auto found = tuning.find("tile_y"); found != tuning.end()) tile_y = found->second;
  return std::make_unique<PackedKeyKernel>(native(device).context(), problem, tile_y);
}

}  // namespace

PackedKeyMatch::PackedKeyMatch(const std::shared_ptr<Context>& context, const PatchMatch& problem,
                               std::optional<std::int64_t> tile_y) {
  PatchArguments& match = arguments_.match;
  match = patch_arguments(problem);
  const LaunchGrid grid = patch_line(problem.references().product());
  if (!has_words(problem)) {
    match_ = std::make_unique<CudaFunction>(
        context, embedded::patch_match_packed_key,
        sentence("tessera_patch_match_packed_key_", patch_types(problem), "_", shape_of_keys(problem)), grid);
    const std::int64_t lines = tile_y ? *tile_y : best_screen_lines(problem, context->limits());
    if (lines != 0) screen_ = std::make_unique<ScreenMatch>(context, problem, lines);
    workspace_bytes_ = screen_ ? screen_->workspace_bytes() : 0;
    return;
  }
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
  const auto prepare_by = [&](const char* name, std::int64_t threads) {
    preparations_.emplace_back(context, embedded::patch_match_packed_key_words, sentence("tessera_patch_match_", name),
                               patch_line(threads));
  };
  prepare_by("words", words);
  prepare_by("plane_sums", plane * match.size[2]);
  prepare_by("norms", norms);
  match_ = std::make_unique<CudaFunction>(
      context, embedded::patch_match_packed_key_words,
      sentence("tessera_patch_match_packed_key_words_", mathematics::patch_key_is_short(problem) ? 32 : 64, "_",
               shape_of_keys(problem)),
      grid);
}

PatchWordArguments PackedKeyMatch::with_memory(const PatchArguments& match, const backend::Slice& workspace) const {
  PatchWordArguments arguments = arguments_;
  arguments.match = match;
  arguments.words = pointer_to<std::uint32_t>(workspace);
  arguments.plane_sums = pointer_at<std::uint32_t>(workspace, sums_at_);
  arguments.norms = pointer_at<std::uint32_t>(workspace, norms_at_);
  return arguments;
}

void PackedKeyMatch::prepare(backend::Queue& queue, const PatchArguments& match,
                             const backend::Slice& workspace) const {
  if (screen_) screen_->prepare(queue, match, workspace);
  if (preparations_.empty()) return;
  PatchWordArguments arguments = with_memory(match, workspace);
  for (const CudaFunction& function : preparations_) function.enqueue(queue, arguments);
}

void PackedKeyMatch::run(backend::Queue& queue, const PatchArguments& match, const backend::Slice& workspace) const {
  const LaunchGrid grid = patch_line(match.references[0] * match.references[1] * match.references[2]);
  if (preparations_.empty()) {
    PatchArguments arguments = match;
    arguments.is_second = screen_ ? 1 : 0;
    if (screen_) screen_->run(queue, match, workspace);
    return match_->enqueue(queue, arguments, grid);
  }
  PatchWordArguments arguments = with_memory(match, workspace);
  match_->enqueue(queue, arguments, grid);
}

backend::Verdict check_packed_key(const PatchMatch& problem, const backend::Device& device) {
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty()) {
    return backend::Verdict::no(std::move(reason));
  }
  if (!has_words(problem)) return check_thread_of_reference(problem, device);
  // The launches over voxels have more threads than the one over references.
  const std::int64_t voxels = problem.held().product() + kPatchThreads;
  return check_patch_groups(mathematics::ceil_div<std::int64_t>(voxels, kPatchThreads), device);
}

backend::Variant<PatchMatch> patch_match_packed_key() {
  return {
      .name = "packed_key",
      .summary = "one thread a reference, neighbouring candidates at a time (bytes by dp4a), sorted keys in registers",
      .check = check_packed_key,
      .tunables = tunables,
      .make = make,
      .pays = pays};
}

}  // namespace tessera::cuda
