// The operators denoise and nonlocal_means on a volume in the host's memory: step by step and piece by piece, with the
// bits of one run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tessera/tessera.h>

#include "tools/denoise/denoise_progress.h"
#include "tools/denoise/pieces.h"

namespace tessera::tool {

/// How a denoising is to be run.
struct DenoisePlan {
  KernelOptions kernel = {};
  std::uint64_t memory_bytes = 0;  ///< that may be taken on the device; 0: nine tenths of what is free there
  std::int64_t most_planes = 0;    ///< of a piece; 0: as many as memory and time allow
};

/// What a problem costs, in units that its steps share.
[[nodiscard]] double work_of(const Denoise& problem);
/// "hard threshold" or "Wiener filter".
[[nodiscard]] const char* name_of_step(const Denoise& problem);
[[nodiscard]] double work_of(const NonlocalMeans& problem);

/// What passes the device's memory is streamed, as it is cut there. Else pieces are short enough to tell how far it is.
/// A problem's parameters are all given, the stage of Denoise is both. Errors as those of stream(), kernels and queues;
/// out_of_memory if the least piece does not fit. Interrupted at once: what the device computes on then is abandoned.
template <class T>
class VolumeDenoiser {
 public:
  VolumeDenoiser(const Device& device, DenoisePlan plan, DenoiseProgress& progress)
      : device_(device), plan_(std::move(plan)), progress_(progress) {}

  [[nodiscard]] std::vector<T> run(const Denoise& problem, std::vector<T> volume);
  [[nodiscard]] std::vector<T> run(const NonlocalMeans& problem, const std::vector<T>& volume);
  /// Which variant ran; "" before.
  [[nodiscard]] const std::string& variant() const noexcept { return variant_; }

 private:
  /// A problem once through the device: a step of Denoise, or the means.
  template <class Pieces>
  struct Pass {
    Pieces pieces;
    double work;  ///< of all planes
    const std::vector<T>& volume;
    const std::vector<T>* basic;  ///< null: there is none
    std::string doing;
  };
  template <class Pieces>
  [[nodiscard]] std::vector<T> run_pass(const Pass<Pieces>& pass);
  template <class Pieces>
  [[nodiscard]] std::int64_t planes_of_next(const Pieces& pieces, std::int64_t first, double work) const;
  /// What a piece needs on the device, which is made and kept for it.
  struct Run;
  /// False if it does not fit into the memory, and nothing was run.
  template <class Pieces>
  [[nodiscard]] bool run_piece(const Pass<Pieces>& pass, const DenoisePiece& piece, std::vector<T>& result);
  [[nodiscard]] std::uint64_t memory_limit() const;
  template <class Pieces>
  [[nodiscard]] std::vector<T> held(const Pieces& pieces, const DenoisePiece& piece,
                                    const std::vector<T>& volume) const;

  const Device& device_;
  DenoisePlan plan_;
  DenoiseProgress& progress_;
  std::string variant_;
  std::int64_t fitting_planes_ = 0;  ///< 0: pieces did fit so far
  T largest_ = 0;                    ///< finite magnitude in the volume, and in the basic estimate; of floats alone
};

}  // namespace tessera::tool
