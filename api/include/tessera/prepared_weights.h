// Weights in the form that one kernel computes with, made once and used for many runs.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <tessera/buffer.h>
#include <tessera/export.h>

namespace tessera {

namespace detail {
class PreparedCore;
}

/// Made by Queue::prepare_weights(). Opaque; owns memory on the kernel's device. It is used by runs of the kernel that
/// it was made for, or of one made with the same problem, variant and tuning on the same opened device; others refuse
/// it. The raw weights are not needed any more once the queue is past the preparation. A run on another queue must wait
/// for an event recorded after it, as for a buffer.
class TESSERA_API PreparedWeights {
 public:
  PreparedWeights() noexcept = default;
  PreparedWeights(PreparedWeights&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  PreparedWeights& operator=(PreparedWeights&& other) noexcept {
    core_ = std::exchange(other.core_, nullptr);
    return *this;
  }
  PreparedWeights(const PreparedWeights&) = delete;
  PreparedWeights& operator=(const PreparedWeights&) = delete;
  ~PreparedWeights() = default;

  /// False if it holds nothing: made by the default constructor, or moved from.
  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  /// Of the memory on the device; 0 if it holds nothing.
  [[nodiscard]] std::size_t size_bytes() const noexcept;
  [[nodiscard]] const std::shared_ptr<const detail::PreparedCore>& core() const noexcept { return core_; }

  /// For the library.
  explicit PreparedWeights(std::shared_ptr<const detail::PreparedCore> core) noexcept : core_(std::move(core)) {}

 private:
  std::shared_ptr<const detail::PreparedCore> core_;
};

/// An operand of weights: a buffer or view as it is documented with the operator, or prepared weights.
class WeightsOperand {
 public:
  WeightsOperand() = default;
  template <class T>
  WeightsOperand(const Buffer<T>& buffer) : raw_(buffer) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  WeightsOperand(const BufferView<T>& view) : raw_(view) {}  // NOLINT(google-explicit-constructor)
  WeightsOperand(const UntypedView& view) : raw_(view) {}    // NOLINT(google-explicit-constructor)
  WeightsOperand(const ConstOperand& raw) : raw_(raw) {}     // NOLINT(google-explicit-constructor)
  WeightsOperand(const PreparedWeights& prepared)
      : prepared_(prepared.core()) {}  // NOLINT(google-explicit-constructor)

  /// The raw weights; a view of nothing if they are prepared.
  [[nodiscard]] const UntypedView& view() const noexcept { return raw_.view(); }
  /// Null if they are raw.
  [[nodiscard]] const std::shared_ptr<const detail::PreparedCore>& prepared() const noexcept { return prepared_; }

 private:
  ConstOperand raw_;
  std::shared_ptr<const detail::PreparedCore> prepared_;
};

}  // namespace tessera
