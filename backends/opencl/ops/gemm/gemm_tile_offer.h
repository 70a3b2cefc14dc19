// Which tiles in registers a device offers, and whether they are fed through local memory or from panels: one answer
// for gemm's register and cnn_layer's implicit_gemm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/variant.h"
#include "opencl_device.h"

namespace tessera::opencl {

/// The tiles that are offered, and the shapes that are: each shape takes each of these tiles.
struct TileOffer {
  std::vector<std::int64_t> shapes;  ///< values of local_memory, ascending
  std::int64_t best_shape = 0;       ///< the one for this kind of device
  std::vector<std::int64_t> tiles;
  std::string because;  ///< if there are none

  [[nodiscard]] backend::Verdict verdict() const {
    return tiles.empty() ? backend::Verdict::no(because) : backend::Verdict::yes();
  }
};

template <class Problem>
using CheckTile = backend::Verdict(const Problem&, const OpenclDevice&, std::int64_t);

/// Of `candidates`, ascending, those that the device's own kind of shape takes: panels for processors, local memory for
/// others. The other shape is offered too if it takes all of these.
template <class Problem>
[[nodiscard]] TileOffer offer_tiles(const Problem& problem, const OpenclDevice& device,
                                    const std::vector<std::int64_t>& candidates, CheckTile<Problem>* check_local,
                                    CheckTile<Problem>* check_panels) {
  TileOffer offer;
  const auto accepted = [&](CheckTile<Problem>* check) {
    std::vector<std::int64_t> tiles;
    for (const std::int64_t tile : candidates) {
      const backend::Verdict verdict = check(problem, device, tile);
      if (verdict) tiles.push_back(tile);
      if (!verdict && offer.because.empty()) offer.because = verdict.because();
    }
    return tiles;
  };
  const std::vector<std::int64_t> local = accepted(check_local);
  const std::vector<std::int64_t> panels = accepted(check_panels);
  const bool prefers_panels = device.facts().info.kind == DeviceKind::cpu ? !panels.empty() : local.empty();
  offer.best_shape = prefers_panels ? 0 : 1;
  offer.tiles = prefers_panels ? panels : local;
  if (offer.tiles.empty()) return offer;
  const std::vector<std::int64_t>& other = prefers_panels ? local : panels;
  offer.shapes = {offer.best_shape};
  if (std::includes(other.begin(), other.end(), offer.tiles.begin(), offer.tiles.end())) offer.shapes = {0, 1};
  return offer;
}

}  // namespace tessera::opencl
