// The march down one strip: rows of the image are taken as a kind of rows (conv2d_source_rows.h) wants them, and a few
// output rows at a time are computed from them (conv2d_marching_kernel.h).
#pragma once

#include <array>
#include <optional>
#include <type_traits>
#include <vector>

#include "ops/conv2d/conv2d_source_rows.h"

namespace tessera::cpu_tbb {

/// Calls march(). False if it did not come to the end, because a pixel was too large to be exact in float.
template <class Source, class Output>
[[nodiscard]] bool try_march(const MarchingRows<Source, Output>& rows) {
  if constexpr (std::is_same_v<Source, Int32AsFloat>) {
    return march(rows);
  } else {
    march(rows);
    return true;
  }
}

/// The source rows of a strip's part: `kept` rows that stay when the march goes on, and those of one step.
template <class Rows, class Pixel>
class PartRows {
 public:
  PartRows(const Conv2dImages<Pixel>& images, const StripPart& part, std::int64_t kept, ScratchPool& scratch)
      : images_(images),
        part_(part),
        row_size_(scratch_row(part.strip.columns + images.problem.filter_width - 1)),
        loan_(scratch, Rows::bytes(kept + marching_rows(), row_size_)),
        rows_(loan_.data(), SourceColumns::under(images.problem, part.strip), part.rows, kept + marching_rows(),
              row_size_) {}

  [[nodiscard]] const Strip& strip() const noexcept { return part_.strip; }
  /// The source row that is `row` below the strip's first becomes row `place` of the march.
  void take(std::int64_t place, std::int64_t row) {
    rows_.take(images_, part_.strip, place, part_.strip.row + row - images_.problem.anchor_y);
  }
  template <class Source, class Output>
  void give(MarchingRows<Source, Output>& rows) const {
    rows.columns = part_.strip.columns;
    rows_.give(rows);
  }
  void advance(std::int64_t count) { rows_.advance(count); }

 private:
  const Conv2dImages<Pixel>& images_;
  StripPart part_;
  std::int64_t row_size_;
  ScratchPool::Loan loan_;
  Rows rows_;
};

/// A strip's parts, three at most.
template <class Rows, class Pixel>
class PartsOfStrip {
 public:
  PartsOfStrip(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t kept, ScratchPool& scratch) {
    std::size_t place = 0;
    for (const StripPart& part : parts_of<typename Rows::Number, Pixel>(images.problem, strip)) {
      parts_[place++].emplace(images, part, kept, scratch);
    }
  }
  /// Calls `use(part)` from left to right, as long as it returns true.
  template <class Use>
  bool all_of(const Use& use) {
    for (auto& part : parts_) {
      if (part && !use(*part)) return false;
    }
    return true;
  }

 private:
  std::array<std::optional<PartRows<Rows, Pixel>>, 3> parts_;
};

}  // namespace tessera::cpu_tbb
