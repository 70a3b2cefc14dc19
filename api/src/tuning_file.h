// Where tuned values lie, and how they are read and written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device_core.h"
#include "tuning_table.h"

namespace tessera::detail {

struct TunedResults {
  TuningTable table;
  std::string path;     ///< "" if there is none
  std::string refusal;  ///< why a file that is there is not used, one sentence; "" if it is
};

/// The tuned values of this process: read on the first call, in one stat() where there are none. Nothing if
/// $TESSERA_TUNING is off. Errors: invalid_argument for a bad $TESSERA_TUNING or $TESSERA_DATA_DIR.
[[nodiscard]] const TunedResults& tuned_results();

/// The key of a class of shape on a device. Its `kernels` is "" where the plug-in has no build id: nothing is kept
/// then.
[[nodiscard]] TuningKey tuning_key(std::string_view operator_name, const std::string& shape_class,
                                   const DeviceCore& device);

/// Keeps `lines`, all of that key, in place of what the file holds of it. Errors: unavailable, with the reason, and
/// invalid_argument as tuned_results().
void store_tuning(const TuningKey& key, const std::vector<TuningLine>& lines);

}  // namespace tessera::detail
