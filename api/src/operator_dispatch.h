// From a problem to a kernel, and from operands to a launch: the same for every operator. What differs stands in
// OperatorTraits, which each ops/<op>.cpp specialises before it instantiates what is defined here.
#pragma once

#include <tessera/device.h>
#include <tessera/queue.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "advice.h"
#include "backend/backend.h"
#include "backend/sentence.h"
#include "boundary.h"
#include "core_of.h"
#include "kernel_core.h"
#include "log_events.h"
#include "making.h"
#include "measured_times.h"
#include "operand_check.h"
#include "prepared_core.h"
#include "queue_core.h"
#include "shape_class.h"
#include "variant_choice.h"
#include "watch.h"
#include "weights_plan.h"

namespace tessera::detail {

/// For each operator:
///   static Problem checked(const Problem&)                           the problem with its defaults filled in; throws
///                                                                    an Error that says what is wrong with it
///   static auto operands(const Problem&, const Operands&)            std::array of OperandSpec, in Operands' order
///   static std::string key(const Problem&)                           every field that the time depends on, as text
///   static std::string shape_class(const Problem&)                   what problems share that one tuning suits
/// and, where one operand is a WeightsOperand:
///   static constexpr std::size_t kWeights                            its place among the operands
///   static constexpr auto kWeightsOperand                            the pointer to it as a member of Operands
///   static OperandSpec weights(const Problem&, const UntypedView&)   what raw weights must be
template <class Problem>
struct OperatorTraits;

/// What the variants say of the problem, and the site file of the variants. With `options`, only variants that may be
/// chosen are asked, because asking may open a vendor's library.
template <class Problem>
[[nodiscard]] std::vector<VariantFacts> facts_of(const backend::VariantList<Problem>& list, const Problem& problem,
                                                 DeviceCore& core, const Advice& advice = {},
                                                 const KernelOptions* options = nullptr) {
  const backend::Device& device = core.device();
  std::vector<VariantFacts> facts;
  bool settled = false;
  for (const backend::Variant<Problem>& variant : list) {
    VariantFacts row{
        std::string(variant.name), std::string(variant.summary), backend::Verdict::no("it was not asked"), {},
        variant.error_factor,      variant.deterministic};
    if (options == nullptr || (options->variant.empty() ? !settled || advice.names(variant.name, *options)
                                                        : options->variant == variant.name)) {
      row.verdict = advice.verdict(Problem::kName, variant.name, core.info_when_opened());
      if (row.verdict) row.verdict = variant.check(problem, device);
      if (row.verdict && variant.tunables != nullptr) row.tunables = variant.tunables(problem, device);
      if (row.verdict && variant.error_factor_of != nullptr)
        row.error_factor = variant.error_factor_of(problem, device);
      if (row.verdict && variant.error_factor_with != nullptr)
        row.error_factor = variant.error_factor_with(problem, device, preferred(row.tunables));
      if (row.verdict && variant.pays != nullptr) row.pays = variant.pays(problem, device);
    }
    settled = settled || (row.pays && eligible(row, options == nullptr || options->deterministic));
    facts.push_back(std::move(row));
  }
  return facts;
}

template <class Problem>
concept HasWeights = requires {
  OperatorTraits<Problem>::kWeights;
};

template <class Problem>
[[nodiscard]] std::string time_key(const Problem& problem, const DeviceCore& device, const std::string& variant,
                                   const Tuning& tuning) {
  return measured_time_key(Problem::kName, OperatorTraits<Problem>::key(problem), device.info_when_opened(), variant,
                           tuning);
}

/// The problem's fields, as far as a line of the log or the trace has room for them.
template <class Problem>
std::string text_of(const Problem& checked) {
  return shortened(OperatorTraits<Problem>::key(checked));
}

/// A kernel that can say which problem it is for.
template <class Problem>
class OperatorKernelCore final : public KernelCore {
 public:
  OperatorKernelCore(std::shared_ptr<DeviceCore> device, KernelInfo&& info, std::unique_ptr<backend::Kernel> kernel,
                     const Problem& checked)
      : KernelCore(std::move(device), std::move(info), std::move(kernel)), checked_(checked) {}

 private:
  [[nodiscard]] std::string describe_problem() const override { return text_of(checked_); }

  const Problem checked_;
};

/// What the site file and tuned values say of a checked problem.
template <class Problem>
[[nodiscard]] Advice advice_on(const Problem& problem, const DeviceCore& core, const KernelOptions* options = nullptr) {
  return advice_for(
      Problem::kName, core, [&] { return OperatorTraits<Problem>::shape_class(problem); }, options);
}

}  // namespace tessera::detail

namespace tessera {

template <class Problem>
OperatorKernel<Problem> Device::kernel(const Problem& problem, const KernelOptions& options) const {
  using namespace detail;
  return at_boundary([&]() -> OperatorKernel<Problem> {
    DeviceCore& core = core_of(core_, "device");
    try {
      core.refuse_elsewhere();
      const Problem checked = OperatorTraits<Problem>::checked(problem);
      KernelMaking making(core.id(), Problem::kName);
      const auto& list = core.operators().template list<Problem>();
      const Advice advice = advice_on(checked, core, &options);
      const auto facts = facts_of(list, checked, core, advice, &options);
      ChosenVariant choice = choose_advised(facts, options, advice, Problem::kName, core);
      auto kernel = core.shared_memory().with_reclaim(
          [&] { return list[choice.index].make(checked, core.device(), choice.tuning); });
      const auto factor_with = list[choice.index].error_factor_with;
      const double error_factor = factor_with == nullptr ? facts[choice.index].error_factor
                                                         : factor_with(checked, core.device(), choice.tuning);
      KernelInfo info{std::string(Problem::kName),
                      facts[choice.index].name,
                      core.id(),
                      options.label,
                      std::move(choice.tuning),
                      error_factor,
                      kernel->workspace_bytes(),
                      kernel->prepared_bytes(),
                      std::move(choice.because)};
      if (is_logged(LogKind::choice)) log_choice(facts, choice.index, options, info, text_of(checked));
      auto made = std::make_shared<OperatorKernelCore<Problem>>(core_, std::move(info), std::move(kernel), checked);
      making.made(*made->description());
      return {std::move(made), checked};
    } catch (const Error& error) {
      throw error.while_doing(backend::sentence("making a kernel for ", Problem::kName,
                                                options.label.empty() ? "" : " '" + options.label + "'", " on ",
                                                core.id()));
    }
  });
}

template <class Problem>
void Queue::run(const OperatorKernel<Problem>& kernel, const typename Problem::Operands& operands) {
  using namespace detail;
  at_boundary([&] {
    QueueCore& queue_core = core_of(core_, "queue");
    const KernelCore& core = core_of(kernel.core(), "kernel");
    auto specs = OperatorTraits<Problem>::operands(kernel.problem(), operands);
    bool are_prepared = false;
    if constexpr (HasWeights<Problem>) {
      if (const auto& prepared = (operands.*OperatorTraits<Problem>::kWeightsOperand).prepared(); prepared != nullptr) {
        check_prepared(*prepared, core, OperatorTraits<Problem>::key(kernel.problem()));
        const UntypedView& memory = prepared->memory();
        OperandSpec& weights = specs[OperatorTraits<Problem>::kWeights];
        weights = {weights.name, &memory, memory.type(), memory.size(), Access::read};
        are_prepared = true;
      }
    }
    check_operands(core, queue_core, specs);
    std::array<backend::Slice, std::tuple_size_v<decltype(specs)>> slices;
    std::array<const UntypedView*, slices.size()> views;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      slices[i] = slice_of(*specs[i].view);
      views[i] = specs[i].view;
    }
    backend::Kernel& native = kernel.core()->kernel();
    const WeightsPlan plan = plan_weights(queue_core, core.info(), are_prepared);
    queue_core.submit(Command{CommandKind::run, core.description()}, views,
                      {.kernel = kernel.core(), .workspace = plan.memory}, [&](backend::Queue& queue) {
                        if constexpr (HasWeights<Problem>) {
                          backend::Slice& weights = slices[OperatorTraits<Problem>::kWeights];
                          if (plan.prepared_here.buffer != nullptr) {
                            native.prepare(queue, weights, plan.prepared_here, plan.workspace);
                            weights = plan.prepared_here;
                          }
                        }
                        native.launch(queue, slices, plan.workspace);
                      });
  });
}

template <class Problem>
PreparedWeights Queue::prepare_weights(const OperatorKernel<Problem>& kernel, const ConstOperand& weights) {
  using namespace detail;
  return at_boundary([&] {
    QueueCore& queue_core = core_of(core_, "queue");
    const KernelCore& core = core_of(kernel.core(), "kernel");
    const std::array specs{OperatorTraits<Problem>::weights(kernel.problem(), weights.view())};
    check_operands(core, queue_core, specs);
    const UntypedView& raw = weights.view();
    const std::size_t raw_bytes = specs[0].elements * size_bytes(specs[0].type);
    const std::size_t prepared_bytes = core.info().prepared_bytes;
    const UntypedView memory = allocate_prepared(core, prepared_bytes == 0 ? raw_bytes : prepared_bytes);
    auto prepared =
        std::make_shared<const PreparedCore>(memory, kernel.core(), OperatorTraits<Problem>::key(kernel.problem()));
    const auto workspace = queue_core.workspace(core.info().workspace_bytes);
    const std::array views{&raw, &memory};
    queue_core.submit(Command{CommandKind::prepare, core.description()}, views,
                      {.kernel = kernel.core(), .workspace = workspace}, [&](backend::Queue& queue) {
                        backend::Slice source = slice_of(raw);
                        source.size_bytes = raw_bytes;
                        if (prepared_bytes == 0) {
                          queue.copy(slice_of(memory), source);
                        } else {
                          kernel.core()->kernel().prepare(queue, source, slice_of(memory), slice_of(workspace));
                        }
                      });
    return PreparedWeights(std::move(prepared));
  });
}

template <class Problem>
std::vector<VariantReport> explain(const Problem& problem, const Device& device) {
  using namespace detail;
  return at_boundary([&] {
    const Problem checked = OperatorTraits<Problem>::checked(problem);
    DeviceCore& core = core_of(device.core(), "device");
    core.refuse_elsewhere();
    const Making making(core.id());  // where a check compiles
    const Advice advice = advice_on(checked, core);
    const auto facts = facts_of(core.operators().template list<Problem>(), checked, core, advice);
    std::vector<VariantReport> reports = report_variants(facts, advice, Problem::kName, core);
    for (VariantReport& report : reports) {
      if (report.can_run)
        report.measured_s = find_time(time_key(checked, core, report.variant, preferred(report.tunables)));
    }
    return reports;
  });
}

template <class Problem>
void remember_time(const OperatorKernel<Problem>& kernel, const Device& device, double seconds) {
  using namespace detail;
  at_boundary([&] {
    const KernelInfo& info = core_of(kernel.core(), "kernel").info();
    store_time(time_key(kernel.problem(), core_of(device.core(), "device"), info.variant, info.tuning), seconds);
  });
}

template <class Problem>
std::string shape_class(const Problem& problem) {
  using namespace detail;
  return at_boundary([&] { return OperatorTraits<Problem>::shape_class(OperatorTraits<Problem>::checked(problem)); });
}

template <class Problem>
void remember_tuning(const Problem& problem, const Device& device, const TuningResult& result) {
  using namespace detail;
  at_boundary([&] {
    const Problem checked = OperatorTraits<Problem>::checked(problem);
    DeviceCore& core = core_of(device.core(), "device");
    core.refuse_elsewhere();
    const auto facts = facts_of(core.operators().template list<Problem>(), checked, core, advice_on(checked, core));
    keep_tuning(Problem::kName, core, OperatorTraits<Problem>::shape_class(checked),
                OperatorTraits<Problem>::key(checked), facts, result);
  });
}

}  // namespace tessera

/// Puts everything an operator needs of this file into the library.
#define TESSERA_INSTANTIATE_OPERATOR(Problem)                                                                       \
  template TESSERA_API OperatorKernel<Problem> Device::kernel<Problem>(const Problem&, const KernelOptions&) const; \
  template TESSERA_API void Queue::run<Problem>(const OperatorKernel<Problem>&, const Problem::Operands&);          \
  template TESSERA_API std::vector<VariantReport> explain<Problem>(const Problem&, const Device&);                  \
  template TESSERA_API std::string shape_class<Problem>(const Problem&);                                            \
  template TESSERA_API void remember_tuning<Problem>(const Problem&, const Device&, const TuningResult&);           \
  template TESSERA_API void remember_time<Problem>(const OperatorKernel<Problem>&, const Device&, double);

/// The same for an operator with weights.
#define TESSERA_INSTANTIATE_OPERATOR_WITH_WEIGHTS(Problem)                                             \
  TESSERA_INSTANTIATE_OPERATOR(Problem)                                                                \
  template TESSERA_API PreparedWeights Queue::prepare_weights<Problem>(const OperatorKernel<Problem>&, \
                                                                       const ConstOperand&);
