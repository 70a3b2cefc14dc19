// Public handles that were moved from hold nothing: what each asks before it uses its core.
#pragma once

#include <memory>
#include <string_view>

#include <tessera/error.h>

#include "backend/sentence.h"

namespace tessera::detail {

/// The core behind a handle; error invalid_argument if there is none. `handle` names it in the sentence: "device".
template <class Core>
[[nodiscard]] Core& core_of(const std::shared_ptr<Core>& core, std::string_view handle) {
  if (core == nullptr) {
    throw Error(ErrorCode::invalid_argument, backend::sentence("the ", handle, " holds nothing: it was moved from"));
  }
  return *core;
}

}  // namespace tessera::detail
