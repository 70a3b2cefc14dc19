// What `tessera classify` found out, for people and as JSON.
#pragma once

#include <string>

#include "tools/classify/classification.h"
#include "tools/output/result_file.h"

namespace tessera::tool {

/// Accuracy, the table of answers, the most doubtful images and the times.
[[nodiscard]] std::string classification_text(const Classification& request, const ClassificationReport& report);

/// The same as a result file, but for the answers of all images.
[[nodiscard]] Json classification_json(const Classification& request, const ClassificationReport& report);

}  // namespace tessera::tool
