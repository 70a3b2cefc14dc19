// Starting a thread, in one place for queues and for the static pool.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "cpu_tbb_fault_hook.h"

namespace tessera::cpu_tbb {

/// std::system_error if the system does not give one.
template <class Function>
[[nodiscard]] std::thread start_thread(Function function) {
  if (is_refused(Refusable::thread))
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  return std::thread(std::move(function));
}

}  // namespace tessera::cpu_tbb
