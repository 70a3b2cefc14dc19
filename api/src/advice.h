// What stands before the defaults that ship: asked for each kernel that is made and for explain().
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "variant_choice.h"

namespace tessera::detail {

/// `shape_class` is called only where tuned values are known. With `options`, only what may have a say is looked for.
/// Errors as site_rules() and tuned_results().
[[nodiscard]] Advice advice_for(std::string_view operator_name, const DeviceCore& device,
                                const std::function<std::string()>& shape_class,
                                const KernelOptions* options = nullptr);

/// Checks a result against what the variants say of its problem, and keeps it. `problem` is the operator's own word for
/// it. Errors as remember_tuning().
void keep_tuning(std::string_view operator_name, const DeviceCore& device, const std::string& shape_class,
                 const std::string& problem, const std::vector<VariantFacts>& facts, const TuningResult& result);

}  // namespace tessera::detail
