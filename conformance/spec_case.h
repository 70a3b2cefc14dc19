// What the cases of every operator have in common: their name, and what the library itself says of their problem. What
// an operator's problem is made of, and what is right, stands in its own folder.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// `Spec` holds `problem`, `purpose`, `misalignment`, `note` and `every_tuning`; `part` where the operator has a study,
/// `prepared` where it has weights that a run may be given raw.
template <class Spec>
class SpecCase : public Case {
 public:
  [[nodiscard]] std::string_view name() const final { return name_; }
  [[nodiscard]] Purpose purpose() const final { return spec_.purpose; }
  [[nodiscard]] DataType type() const final { return spec_.problem.type; }
  [[nodiscard]] std::vector<VariantReport> explain(const Device& device) const final {
    return tessera::explain(spec_.problem, device);
  }
  [[nodiscard]] std::string shape_class() const final { return tessera::shape_class(spec_.problem); }
  void remember_tuning(const Device& device, const TuningResult& result) const final {
    tessera::remember_tuning(spec_.problem, device, result);
  }
  [[nodiscard]] bool tries_every_tuning() const final { return spec_.every_tuning; }
  [[nodiscard]] std::string_view part() const final {
    if constexpr (requires { spec_.part; }) return spec_.part;
    return "";
  }

 protected:
  /// The name begins with `name_of(problem)`.
  template <class NameOf>
  SpecCase(Spec&& spec, const NameOf& name_of) : spec_(std::move(spec)), name_(name_of(spec_.problem)) {
    if constexpr (requires { spec_.prepared; }) name_ += spec_.prepared ? "" : "_raw";
    if (spec_.misalignment != 0) name_ += "_odd";
    if (!spec_.note.empty()) name_ += "_" + spec_.note;
  }
  [[nodiscard]] const Spec& spec() const noexcept { return spec_; }

 private:
  const Spec spec_;
  std::string name_;
};

/// Inputs and expected values of a case: made for the first run, for several threads at once, and given back with the
/// last run unless they are kept for the next device or variant.
template <class Data>
class CaseData {
 public:
  template <class Make>
  [[nodiscard]] std::shared_ptr<const Data> get(bool is_kept, const Make& make) const {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const Data> data = data_.lock();
    if (!data) data_ = data = make();
    if (is_kept) kept_ = data;
    return data;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const Data> data_;
  mutable std::shared_ptr<const Data> kept_;
};

}  // namespace tessera::conformance
