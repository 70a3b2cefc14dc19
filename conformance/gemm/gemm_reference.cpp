// What a whole C must be, and comparing a result with it.
#include "conformance/gemm/gemm_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "conformance/in_threads.h"
#include "conformance/inputs.h"

namespace tessera::conformance {

namespace {

/// Products up to which every element is computed: some 0.2 s on one core.
constexpr double kCompleteProducts = 1 << 24;
/// Cells of the sampling grid a side: 64 x 64 samples, so that every tile of 1/32 of a side or more holds one.
constexpr std::int64_t kGridCells = 64;

std::string element_name(std::int64_t row, std::int64_t column) {
  return "C(" + std::to_string(row) + ", " + std::to_string(column) + ")";
}

}  // namespace

template <class T>
GemmReference<T>::GemmReference(const GemmInputs<T>& inputs, std::uint64_t seed, Draw draw)
    : problem_(inputs.problem),
      bound_(gemm_bound(inputs.problem, inputs.alpha, inputs.beta)),
      draw_(draw),
      rows_(inputs.problem.m),
      columns_(inputs.problem.n) {
  if (rows_ == 0 || columns_ == 0) rows_ = columns_ = 0;  // one of them may be huge
  const double elements = static_cast<double>(rows_) * static_cast<double>(columns_);
  if (elements * static_cast<double>(std::max<std::int64_t>(inputs.problem.k, 1)) > kCompleteProducts) {
    choose_samples(seed);
    probe_.emplace(inputs, seed + 1);
  } else {
    elements_.reserve(static_cast<std::size_t>(elements));
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t column = 0; column < columns_; ++column) elements_.push_back({row, column, {}});
    }
  }
  const double operations = static_cast<double>(elements_.size()) * static_cast<double>(inputs.problem.k);
  in_threads(elements_.size(), operations, [&](std::size_t i) {
    elements_[i].expected = gemm_element(inputs, elements_[i].row, elements_[i].column);
  });
}

template <class T>
void GemmReference<T>::choose_samples(std::uint64_t seed) {
  const auto add = [&](std::int64_t row, std::int64_t column) { elements_.push_back({row, column, {}}); };
  for (const std::int64_t row : {std::int64_t{0}, rows_ - 1}) {
    for (const std::int64_t column : {std::int64_t{0}, columns_ - 1}) add(row, column);
  }
  const std::int64_t cells_down = std::min(kGridCells, rows_);
  const std::int64_t cells_across = std::min(kGridCells, columns_);
  std::uint64_t index = 0;
  const auto pick = [&](std::int64_t cell, std::int64_t cells, std::int64_t extent) {
    const std::int64_t first = cell * extent / cells;
    const std::int64_t last = (cell + 1) * extent / cells;
    return first + static_cast<std::int64_t>(random_below(static_cast<std::uint64_t>(last - first), seed, index++));
  };
  for (std::int64_t down = 0; down < cells_down; ++down) {
    for (std::int64_t across = 0; across < cells_across; ++across) {
      const std::int64_t row = pick(down, cells_down, rows_);
      add(row, pick(across, cells_across, columns_));
    }
  }
}

template <class T>
void GemmReference<T>::find_poison(std::span<const T> c, std::int64_t stride, T poison, const std::string& name,
                                   Comparison& comparison) const {
  for (std::int64_t row = 0; row < rows_; ++row) {
    for (std::int64_t column = 0; column < columns_; ++column) {
      if (std::memcmp(&c[row * stride + column], &poison, sizeof(T)) != 0) continue;
      comparison.fail(name + element_name(row, column) + " holds the poison: it was not written, or made of poison");
    }
  }
}

template <class T>
void GemmReference<T>::check(std::span<const T> c, std::int64_t stride, double error_factor, std::optional<T> poison,
                             const std::string& name, Comparison& comparison) const {
  if (poison) find_poison(c, stride, *poison, name, comparison);
  Chance chance(problem_.type, bound_, draw_, static_cast<double>(elements_.size()), error_factor);
  for (const Element& element : elements_) {
    const ExpectedSum& expected = element.expected;
    const double found = c[element.row * stride + element.column];
    const std::string difference = chance.difference(found, expected, error_factor * expected.bound, comparison);
    if (difference.empty()) continue;
    comparison.fail(name + element_name(element.row, element.column) + " " + difference);
  }
  if (std::string unlikely = chance.failure_of_all(); !unlikely.empty() && !comparison.failed()) {
    comparison.fail(name + unlikely);
  }
  if (!probe_) return;
  std::string failure = probe_->check(c, stride, error_factor);
  if (!failure.empty()) comparison.fail(name + failure);
}

template class GemmReference<float>;
template class GemmReference<double>;

}  // namespace tessera::conformance
